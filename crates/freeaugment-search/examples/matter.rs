use freeaugment_search::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let epochs: u64 = args.next().unwrap().parse().unwrap();
    let values: toml::Table = args.collect::<Vec<_>>().join("\n").parse().unwrap();
    let base = resolve("drawings", &[Patch { place: "cli".into(), values }]).unwrap();
    let plan = Plan::new(&base, &()).unwrap();
    let fresh = base.policy_config().unwrap().init().unwrap();
    let none = train(&base, &plan, None, epochs, &mut || Ok(())).unwrap();
    let uniform = train(&base, &plan, Some(&fresh), epochs, &mut || Ok(())).unwrap();
    for plant in ["", "ShearX", "TranslateX", "TranslateX:-0.25..0.25", "Rotate", "Solarize:0.6..0.8", "Posterize:2..3", "Contrast:0.4..2.0", "Color", "Brightness", "Sharpness", "AutoContrast", "Invert", "Equalize"] {
        let s = Settings { plant: if plant.is_empty() { vec![] } else { vec![plant.to_owned()] }, ..base.clone() };
        let p = Plan { pipeline: plan.pipeline.clone(), ..Plan::new(&Settings { drawings_train: 8000, ..s.clone() }, &()).unwrap() };
        let a = evaluate(&none, &p, &p.test, 200).unwrap();
        let b = evaluate(&uniform, &p, &p.test, 200).unwrap();
        println!("{plant:24} none {:.3} uniform {:.3} (loss {:.3})", a.accuracy, b.accuracy, b.loss);
    }
}
