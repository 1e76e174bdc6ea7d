use freeaugment_data::*;
fn main() {
    let d = Synthetic { train: 60, validation: 60, plants: vec!["Rotate".parse().unwrap(), "Brightness".parse().unwrap()], seed: 1 }.dataset();
    let mut img = image::RgbImage::new(10 * 34, 12 * 34);
    for r in 0..12u32 { for c in 0..10u32 {
        let p = d.read(r * 10 + c).unwrap();
        for y in 0..32u32 { for x in 0..32u32 { let at = ((y * 32 + x) * 3) as usize; img.put_pixel(c * 34 + x, r * 34 + y, image::Rgb([p.pixels[at], p.pixels[at + 1], p.pixels[at + 2]])); } }
    } }
    image::imageops::resize(&img, 1020, 1224, image::imageops::FilterType::Nearest).save("/tmp/draw.png").unwrap();
}
