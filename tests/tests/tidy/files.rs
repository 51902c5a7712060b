//! The texts of files, by their paths.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Texts by paths from the root of the repository, with `/` between the parts.
pub(crate) type Files = BTreeMap<String, String>;

/// Folders of what is made here: `.gitignore` lists them, a packaged copy has no git.
const SKIPPED: &[&str] = &[".git", "target", "corpus", "artifacts"];

/// Every text file of the repository.
pub(crate) fn of_the_repository() -> Files {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Files::new();
    let mut folders = vec![(String::new(), root.to_path_buf())];
    while let Some((prefix, folder)) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            if path.is_dir() {
                if !SKIPPED.contains(&name) {
                    folders.push((format!("{prefix}{name}/"), path));
                }
            } else if let Ok(text) = fs::read_to_string(&path) {
                files.insert(format!("{prefix}{name}"), text);
            }
        }
    }
    assert!(files.len() > 300, "only {} files were found", files.len());
    files
}

/// Files with these texts, for the tests of the rules.
pub(crate) fn planted(files: &[(&str, &str)]) -> Files {
    let owned = |&(path, text): &(&str, &str)| (path.to_owned(), text.to_owned());
    files.iter().map(owned).collect()
}

/// The Rust sources of a crate: path and text.
pub(crate) fn sources<'a>(
    files: &'a Files,
    krate: &str,
) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    let folder = format!("{krate}/src/");
    files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .filter(move |(path, _)| path.starts_with(&folder) && path.ends_with(".rs"))
}
