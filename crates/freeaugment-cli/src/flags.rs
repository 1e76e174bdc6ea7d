//! Every setting as a flag.

use std::marker::PhantomData;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use freeaugment_search::{Field, Task, ValueKind};
use toml::{Table, Value};

/// The settings that were given as flags. The flags are not written down here: they follow from the list of settings of
/// the task.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingFlags<T>(pub(crate) Table, PhantomData<T>);

/// A task, as a type that flags can be for.
pub(crate) trait ForTask {
    const TASK: Task;
}

macro_rules! tasks {
    ($($name:ident = $task:ident),*) => { $(
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name;

        impl ForTask for $name {
            const TASK: Task = Task::$task;
        }
    )* };
}

tasks! { ForSearch = Search, ForComparison = Comparison, ForFind = Find }

/// Those that the short help shows too.
const COMMON: [&str; 7] = ["data", "budget", "network", "device", "epochs", "batch", "seed"];

fn flag(field: &Field) -> Arg {
    let arg = Arg::new(field.name)
        .long(field.name.replace('_', "-"))
        .help(field.help.trim())
        .help_heading(format!("{} settings", field.group))
        .hide_short_help(!COMMON.contains(&field.name));
    match field.kind {
        ValueKind::Switch => arg
            .value_name("true|false")
            .num_args(0..=1)
            .default_missing_value("true")
            .value_parser(value_parser!(bool))
            .hide_possible_values(true),
        ValueKind::Whole => arg.value_name("N").value_parser(value_parser!(i64).range(0..)),
        ValueKind::Number => {
            arg.value_name("X").value_parser(value_parser!(f64)).allow_negative_numbers(true)
        }
        ValueKind::Text => arg.value_name("TEXT"),
        ValueKind::List => arg.value_name("A,B…").value_delimiter(','),
        ValueKind::Choice(words) => arg.value_name("WORD").value_parser(PossibleValuesParser::new(words)),
    }
}

fn value(field: &Field, matches: &ArgMatches) -> Option<Value> {
    let name = field.name;
    match field.kind {
        ValueKind::Switch => matches.get_one::<bool>(name).copied().map(Value::Boolean),
        ValueKind::Whole => matches.get_one::<i64>(name).copied().map(Value::Integer),
        ValueKind::Number => matches.get_one::<f64>(name).copied().map(Value::Float),
        ValueKind::Text | ValueKind::Choice(_) => matches.get_one::<String>(name).cloned().map(Value::String),
        ValueKind::List => matches.get_many::<String>(name).map(|values| {
            // An empty text is an empty list.
            Value::Array(values.filter(|value| !value.is_empty()).cloned().map(Value::String).collect())
        }),
    }
}

impl<T: ForTask> Args for SettingFlags<T> {
    fn augment_args(command: Command) -> Command {
        command.args(T::TASK.fields().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: ForTask> FromArgMatches for SettingFlags<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given =
            T::TASK.fields().filter_map(|field| Some((field.name.to_owned(), value(field, matches)?)));
        Ok(Self(given.collect(), PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.extend(Self::from_arg_matches(matches)?.0);
        Ok(())
    }
}
