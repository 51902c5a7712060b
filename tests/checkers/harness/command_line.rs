//! The command line of a checker: options, and names of what to check.

use std::env;
use std::process::ExitCode;

/// What the words of the command line say.
#[derive(Default)]
pub(crate) struct Arguments {
    options: Vec<(String, String)>,
    pub(crate) names: Vec<String>,
}

/// Reads the command line, and calls `body`. A flag stands alone, an option is followed by its
/// value. What is wrong with the words is printed with the usage, and the exit code is 2.
pub(crate) fn run(
    usage: &str,
    flags: &[&str],
    options: &[&str],
    body: impl FnOnce(&Arguments) -> Result<ExitCode, String>,
) -> ExitCode {
    let arguments = parse(env::args().skip(1), flags, options);
    let ended = arguments.and_then(|arguments| body(&arguments));
    ended.unwrap_or_else(|problem| {
        eprintln!("{problem}\n{usage}");
        ExitCode::from(2)
    })
}

fn parse(
    mut words: impl Iterator<Item = String>,
    flags: &[&str],
    options: &[&str],
) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    while let Some(word) = words.next() {
        if flags.contains(&&*word) {
            arguments.options.push((word, String::new()));
        } else if options.contains(&&*word) {
            let value = words.next();
            let value = value.ok_or_else(|| format!("`{word}` needs a value"))?;
            arguments.options.push((word, value));
        } else if word.starts_with('-') {
            return Err(format!("unknown option `{word}`"));
        } else {
            arguments.names.push(word);
        }
    }
    Ok(arguments)
}

impl Arguments {
    /// The value of an option, the last one if there are several; of a flag that is there, an
    /// empty one.
    pub(crate) fn value(&self, option: &str) -> Option<&str> {
        let mut options = self.options.iter().rev();
        let found = options.find(|(name, _)| name == option);
        found.map(|(_, value)| value.as_str())
    }
}

/// Whether `chosen` means what is called `name`: it is the name, or as much of it as ends at
/// one of the `marks` between its parts.
pub(crate) fn chooses(chosen: &str, name: &str, marks: &[char]) -> bool {
    name.strip_prefix(chosen)
        .is_some_and(|rest| rest.is_empty() || chosen.ends_with(marks) || rest.starts_with(marks))
}
