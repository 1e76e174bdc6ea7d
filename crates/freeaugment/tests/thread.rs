//! One image needs no thread but the caller's: in a process that was forked, as data loaders are, there is no other.
//! (A test file of its own, so that nothing else starts threads in its process.)
#![cfg(target_os = "linux")]

use freeaugment::{Chain, ImagesMut, ImagesRef, PolicyConfig, Shape, Step, Strides, Transformation};

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn one_image_is_drawn_augmented_and_followed_without_another_thread() {
    let before = threads();
    let policy = PolicyConfig::default().init().unwrap();
    let shape = Shape { count: 1, channels: 3, height: 40, width: 30 };
    let (bytes, mut out) = (vec![100_u8; shape.image()], vec![0_u8; shape.image()]);
    let (mask, mut moved) = (vec![1_i64; shape.image()], vec![0_i64; shape.image()]);
    for index in 0..50 {
        let chain = policy.chain(0, 0, index);
        let image = ImagesRef::interleaved(&bytes, shape).unwrap();
        chain.apply_into(image, ImagesMut::interleaved(&mut out, shape).unwrap()).unwrap();
        chain.move_mask(&mask, shape, Strides::planar(shape), 0, &mut moved).unwrap();
    }
    // Floats too.
    let (values, mut out_values) = (vec![0.5_f32; shape.image()], vec![0.0_f32; shape.image()]);
    let image = ImagesRef::planar(&values, shape).unwrap();
    policy.chain(0, 0, 3).apply_into(image, ImagesMut::planar(&mut out_values, shape).unwrap()).unwrap();
    assert_eq!(threads(), before);
    // A batch does start them.
    let two = Shape { count: 2, height: 20, ..shape };
    let invert = Step { transformation: Transformation::named("Invert").unwrap(), magnitude: None };
    let images = ImagesRef::interleaved(&bytes, two).unwrap();
    let out = ImagesMut::interleaved(&mut out, two).unwrap();
    Chain::new(vec![invert]).unwrap().apply_into(images, out).unwrap();
    assert!(threads() > before);
}
