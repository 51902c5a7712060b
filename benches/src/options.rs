//! What to run and how long, by the command line.

use std::time::Duration;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long to run.
    pub effort: Effort,
    /// Words of which a case must have one in its name; all cases if there are
    /// none.
    words: Vec<String>,
    /// What else began with a dash.
    flags: Vec<String>,
}

impl Options {
    /// Reads the process's arguments: `--quick`, the `--bench` that `cargo bench`
    /// passes and `cargo test` does not, and words that select cases.
    pub fn from_args() -> Self {
        Self::from_iter(std::env::args().skip(1))
    }

    fn from_iter(args: impl Iterator<Item = String>) -> Self {
        let (flags, words): (Vec<_>, Vec<_>) = args.partition(|arg| arg.starts_with('-'));
        let has = |name: &str| flags.iter().any(|flag| flag == name);
        let effort = match (has("--quick"), has("--bench")) {
            (true, _) => Effort::Quick,
            (false, true) => Effort::Full,
            (false, false) => Effort::Smoke,
        };
        Self {
            effort,
            words,
            flags,
        }
    }

    /// Returns the value of `--NAME=VALUE`, the last one if there are several.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.flags.iter().rev().find_map(|flag| {
            flag.strip_prefix("--")?
                .strip_prefix(name)?
                .strip_prefix('=')
        })
    }

    /// Returns a flag that is neither one that every benchmark has nor one of
    /// the `names` with a value, if there is one.
    pub fn unknown(&self, names: &[&str]) -> Option<&str> {
        let is_known = |flag: &str| {
            let name = flag.split('=').next().unwrap_or(flag);
            ["--quick", "--bench"].contains(&flag)
                || names.iter().any(|known| name == format!("--{known}"))
        };
        self.flags
            .iter()
            .map(String::as_str)
            .find(|flag| !is_known(flag))
    }

    /// Refuses flags other than those of every benchmark and the `names` with a value.
    ///
    /// # Errors
    ///
    /// Says which flag, and which there are.
    pub fn check(&self, names: &[&str]) -> Result<(), String> {
        self.unknown(names).map_or(Ok(()), |flag| {
            let all = names.join("=…, --");
            Err(format!("{flag} is none of --quick and --{all}=…"))
        })
    }

    /// Returns the number in `--NAME=NUMBER`, if that is given.
    ///
    /// # Errors
    ///
    /// If it is no number, or zero.
    pub fn number(&self, name: &str) -> Result<Option<usize>, String> {
        self.value(name).map(|text| number(name, text)).transpose()
    }

    /// Returns the numbers in `--NAME=NUMBER,NUMBER…`, or in `default`.
    ///
    /// # Errors
    ///
    /// If one is no number, or zero.
    pub fn numbers(&self, name: &str, default: &str) -> Result<Vec<usize>, String> {
        let texts = self.value(name).unwrap_or(default).split(',');
        texts.map(|text| number(name, text)).collect()
    }

    /// Returns those of `all` that are named in `--NAME=NAME,NAME…`; all if it is not
    /// given.
    ///
    /// # Errors
    ///
    /// If there is none of that name.
    pub fn among<T: Copy>(
        &self,
        name: &str,
        all: &[T],
        name_of: impl Fn(T) -> &'static str,
    ) -> Result<Vec<T>, String> {
        let Some(names) = self.value(name) else {
            return Ok(all.to_vec());
        };
        let find = |name: &str| {
            let found = all.iter().copied().find(|&one| name_of(one) == name);
            found.ok_or_else(|| {
                let all: Vec<_> = all.iter().map(|&one| name_of(one)).collect();
                format!("{name:?} is none of {}", all.join(", "))
            })
        };
        names.split(',').map(find).collect()
    }

    /// Returns whether the case of this name is to run.
    pub fn selects(&self, case: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| case.contains(word))
    }
}

fn number(name: &str, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number: &usize| number > 0);
    number.ok_or_else(|| format!("--{name} takes whole numbers above zero, not {text:?}"))
}

/// What the caller has time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// `cargo bench`: figures to quote.
    Full,
    /// `cargo bench … -- --quick`: figures for a first look.
    Quick,
    /// `cargo test --benches`: every case once, to see that it works.
    Smoke,
}

impl Effort {
    /// Returns this effort's share of what a full run does: rounds, items.
    ///
    /// ```
    /// use benches::options::Effort;
    /// assert_eq!(Effort::Full.of(300), 300);
    /// assert_eq!(Effort::Smoke.of(300), 1);
    /// ```
    pub fn of(self, full: usize) -> usize {
        match self {
            Effort::Full => full,
            Effort::Quick => full.div_ceil(15),
            Effort::Smoke => 1,
        }
    }

    /// Returns how long one sample takes, if a full run's takes `full`.
    pub fn span(self, full: Duration) -> Duration {
        match self {
            Effort::Full | Effort::Quick => full,
            Effort::Smoke => Duration::from_micros(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Options {
        Options::from_iter(line.split_whitespace().map(String::from))
    }

    #[test]
    fn only_cargo_bench_runs_long() {
        assert_eq!(options("--bench").effort, Effort::Full);
        assert_eq!(options("--quick --bench").effort, Effort::Quick);
        assert_eq!(options("").effort, Effort::Smoke);
    }

    #[test]
    fn flags_have_values_and_are_known() {
        let options = options("--bench --workers=2 --workers=4 --works=1");
        assert_eq!(options.value("workers"), Some("4"));
        assert_eq!(options.value("work"), None);
        assert_eq!(options.unknown(&["workers"]), Some("--works=1"));
        assert_eq!(options.unknown(&["workers", "works"]), None);
    }

    #[test]
    fn words_select_cases() {
        assert!(options("--bench").selects("fill"));
        assert!(options("drain fill --bench").selects("fill: push 256"));
        assert!(!options("drain --bench").selects("fill: push 256"));
    }
}
