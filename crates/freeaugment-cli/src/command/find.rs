//! `freeaugment find`

use std::collections::BTreeSet;

use freeaugment_search::{
    ComparisonObserver, Find, FindObserver, Halt, Measured, Notes, Observer, Plan, RunWriter, Search, Setups,
    Stage, Task, Unreadable, Verdict,
};

use super::{check_device, configuration, folder, use_threads};
use crate::arguments::{FindArguments, Manner};
use crate::exit::{Ending, Failure};
use crate::follow::Follow;
use crate::interrupt;
use crate::output::{self, command, print, print_json};
use crate::progress::{Cells, Measuring, Reading, Steps};

pub(crate) fn run(arguments: &FindArguments) -> Result<Ending, Failure> {
    let manner = arguments.manner;
    let settings = configuration::settings(Task::Find, &arguments.source, &arguments.settings.0)?;
    use_threads(manner.threads)?;
    check_device(&settings)?;
    let folder = folder(arguments.source.out.as_ref(), "find");
    if !arguments.source.dry_run {
        RunWriter::check_free(&folder)?;
        interrupt::listen(manner.quiet)?;
    }
    let given = arguments.plan.as_deref().map(Plan::load).transpose()?;
    let setups = Setups::read(&settings, &Reading::new(manner.quiet))?;
    if !manner.quiet {
        output::say(&overview(&setups));
    }
    let plan = if let Some(plan) = given {
        plan
    } else {
        if !manner.quiet {
            output::say(
                "measuring: how fast this machine is, and how soon these images are known by heart\n",
            );
        }
        let bar = Measuring::new(manner.quiet);
        let measured = Measured::new(&settings, &setups, &mut |share| bar.advance(share));
        bar.end();
        Plan::new(&settings, &setups, measured?)?
    };
    let find = Find::new(settings, setups, plan);
    if arguments.source.dry_run {
        if manner.json {
            print_json(find.planned())?;
        } else {
            print(&find.planned().to_string())?;
        }
        return Ok(Ending::Done);
    }
    let run = find.create(&folder, output::typed())?;
    carry_out(&find, &run, manner)
}

/// Goes on.
pub(crate) fn resume(run: &RunWriter, manner: Manner) -> Result<Ending, Failure> {
    check_device(&run.settings()?)?;
    let find = Find::open(run, &Reading::new(manner.quiet))?;
    run.log("resumed")?;
    carry_out(&find, run, manner)
}

fn overview(setups: &Setups) -> String {
    let (search, selection, proof) =
        (setups.of(Stage::Search), setups.of(Stage::Selection), setups.of(Stage::Proof));
    let dataset = &proof.dataset;
    let text = format!(
        "{}: {} classes\n  search     {} images, judged by {}\n  selection  the same, judged by {}{}\n  proof      {} images, \
         judged by {}",
        dataset.title,
        dataset.classes.len(),
        search.training.indices().len(),
        search.validation.indices().len(),
        selection.test.len(),
        if setups.shares_validation() { " (the same: there are too few for both)" } else { " others" },
        proof.training.indices().len(),
        proof.test.len(),
    );
    // Stages read some images in common; each is named once.
    let of_all = [search, selection, proof].into_iter().flat_map(|setup| &setup.unreadable);
    let unreadable: BTreeSet<String> = of_all.map(|image| image.message.clone()).collect();
    let unreadable: Vec<String> = unreadable.into_iter().collect();
    format!("{text}{}{}", Unreadable(&unreadable), Notes(&dataset.notes))
}

/// Shows the stages as they go by.
struct Stages {
    manner: Manner,
    follow: Follow,
    /// Those that judge classifiers in this stage.
    images: &'static str,
    steps: Option<Steps>,
    cells: Option<Cells>,
}

impl Stages {
    fn end(&mut self) -> Result<(), Failure> {
        if let Some(steps) = self.steps.take() {
            steps.end()?;
        }
        if let Some(cells) = self.cells.take() {
            cells.end();
        }
        Ok(())
    }
}

impl FindObserver for Stages {
    fn begin(&mut self, stage: Stage) {
        // A line that cannot be printed is no reason to stop.
        let _ = self.end();
        self.images = if stage == Stage::Proof { "test" } else { "validation" };
        if !self.manner.quiet {
            output::say(match stage {
                Stage::Opening => "opening: whole trainings of what needs no search, on validation images",
                Stage::Search => "\nsearch: gradients propose a policy",
                Stage::Selection => "\nselection: whole trainings decide, on validation images",
                Stage::Proof => "\nproof: fresh classifiers, on test images",
            });
        }
    }

    fn search(&mut self, search: &Search) -> &mut dyn Observer<Search> {
        self.steps.insert(Steps::new(search, Manner { json: false, ..self.manner }, self.follow.clone()))
    }

    fn trainings(&mut self) -> &mut dyn ComparisonObserver {
        self.cells.insert(Cells::new(self.images, self.manner.quiet, self.follow.clone()))
    }
}

fn carry_out(find: &Find, run: &RunWriter, manner: Manner) -> Result<Ending, Failure> {
    interrupt::be_careful();
    if !manner.quiet {
        output::say(&format!("{}\n  run        {}\n", find.planned(), run.folder().display()));
    }
    let follow = Follow::new(run.folder(), manner.record);
    let mut stages =
        Stages { manner, follow: follow.clone(), images: "validation", steps: None, cells: None };
    let ended = find.run(run, &mut stages, interrupt::stop());
    stages.end()?;
    follow.end(ended.is_err());
    let (halt, verdict) = ended?;
    let Some(verdict) = verdict.filter(|_| halt == Halt::Finished) else {
        let resume = command("resume", run.folder());
        output::say(&format!("interrupted: what was done is saved\nto go on: {resume}"));
        if manner.json {
            let run = run.folder();
            print_json(&serde_json::json!({ "outcome": "interrupted", "run": run, "resume": resume }))?;
        }
        return Ok(Ending::Interrupted);
    };
    if manner.json {
        let (run, policy) = (run.folder(), run.policy_path());
        print_json(
            &serde_json::json!({ "outcome": "finished", "run": run, "policy": policy, "verdict": verdict }),
        )?;
        return Ok(Ending::Done);
    }
    if !manner.quiet {
        show(&verdict)?;
        let policy = run.policy_path();
        print(&format!("\npolicy: {}", policy.display()))?;
        output::say(&format!("\nnext: {}", command("show", &policy)));
        let (program, policy) = (output::program(), output::quoted(&policy));
        let unmirrored = verdict.mirroring.is_some_and(|mirroring| mirroring.hurts());
        let cut = verdict.cutting.as_ref().and_then(|cutting| cutting.flags());
        output::say(&format!(
            "      {program} train{} --policy {policy}{}{}",
            output::data_flag(&run.settings()?),
            if unmirrored { " --flip 0" } else { "" },
            cut.map(|flags| format!(" {flags}")).unwrap_or_default()
        ));
        follow.tell(run.folder());
    }
    Ok(Ending::Done)
}

/// The verdict and the table it rests on.
pub(crate) fn show(verdict: &Verdict) -> Result<(), Failure> {
    print(&format!("\n{}\n\n{verdict}", verdict.proof))?;
    Ok(())
}
