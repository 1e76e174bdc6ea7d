use freeaugment_search::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let preset = args.next().unwrap();
    let values: toml::Table = args.collect::<Vec<_>>().join("\n").parse().unwrap();
    let settings = resolve(&preset, &[Patch { place: "cli".into(), values }]).unwrap();
    let plan = Plan::new(&settings, &()).unwrap();
    let start = std::time::Instant::now();
    let mut search = Search::new(settings.clone(), plan).unwrap();
    let total = search.steps_total();
    let mut acc = (0.0, 0.0, 0.0);
    for i in 0..total {
        let s = search.step().unwrap();
        acc.0 += s.loss; acc.1 += s.accuracy; acc.2 += s.validation.map_or(0.0, |v| v.1);
        let every = (total / 8).max(1);
        if (i + 1) % every == 0 {
            let n = every as f64;
            let d = search.policy().describe().unwrap();
            let mut u: Vec<_> = d.usage.iter().zip(&search.policy().config().transformations).map(|(u, t)| (*u, t.transformation.name())).collect();
            u.sort_by(|a, b| b.0.total_cmp(&a.0));
            let top: Vec<String> = u.iter().take(6).map(|(u, n)| format!("{n} {:.3}", u)).collect();
            let depth: Vec<String> = d.depth.iter().map(|d| format!("{d:.2}")).collect();
            println!("{:5} {:4.0}s loss {:.3} acc {:.3} val {:.3} | depth {} | {}", i + 1, start.elapsed().as_secs_f64(), acc.0 / n, acc.1 / n, acc.2 / n, depth.join(" "), top.join(", "));
            acc = (0.0, 0.0, 0.0);
        }
    }
    let d = search.policy().describe().unwrap();
    for ((u, r), t) in d.usage.iter().zip(&d.ranges).zip(&search.policy().config().transformations) {
        println!("  {:13} {:.3} {}", t.transformation.name(), u, r.map_or(String::new(), |r| r.to_string()));
    }
    println!("RESULT {}", serde_json::json!({"usage": d.usage, "depth": d.depth, "plant": settings.plant, "seed": settings.seed}));
    if settings.proof_epochs > 0 {
        let fresh = settings.policy_config().unwrap().init().unwrap();
        for (name, policy) in [("none", None), ("uniform", Some(&fresh)), ("learned", Some(search.policy()))] {
            let c = train(&settings, search.plan(), policy, settings.proof_epochs, &mut || Ok(())).unwrap();
            let score = evaluate(&c, search.plan(), &search.plan().test, 200).unwrap();
            println!("proof {name}: {:.4} ({:.0}s)", score.accuracy, start.elapsed().as_secs_f64());
        }
    }
}
