//! Programs on smol and async-std run on the scheduler of this workspace, by the two lines
//! of `compat/async-executor`.
//!
//! `tests/io/patched` is copied beside the other products of the build, together with the
//! versions that this workspace is locked to, so that nothing has to be downloaded that is
//! there already, and nothing is written into the sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The copy, with a target directory of its own.
struct Fixture(PathBuf);

impl Fixture {
    fn new() -> Self {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
        let workspace = sources.join("../..").canonicalize().expect("it exists");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("patched");
        let read = |path: &Path| fs::read_to_string(path).expect("it can be read");
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().expect("inside of the copy")).expect("writable");
            fs::write(path, text).expect("writable");
        };

        let original = sources.join("patched");
        let manifest = read(&original.join("Cargo.toml"));
        let patch = workspace.join("compat/async-executor");
        let relative = "../../../compat/async-executor";
        assert!(manifest.contains(relative));
        let manifest = manifest.replace(relative, patch.to_str().expect("a path in UTF-8"));
        write(copy.join("Cargo.toml"), &manifest);
        write(
            copy.join("Cargo.lock"),
            &read(&workspace.join("Cargo.lock")),
        );
        for program in ["on_smol", "on_async_std"] {
            let path = format!("src/bin/{program}.rs");
            write(copy.join(&path), &read(&original.join(&path)));
        }
        Self(copy)
    }

    /// Without the network, if that is possible.
    fn cargo(&self, arguments: &[&str]) -> Output {
        let offline = self.cargo_with(&[arguments, &["--offline"]].concat());
        if String::from_utf8_lossy(&offline.stderr).contains("offline") {
            return self.cargo_with(arguments);
        }
        offline
    }

    fn cargo_with(&self, arguments: &[&str]) -> Output {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Command::new(cargo)
            .current_dir(&self.0)
            .args(arguments)
            .env("CARGO_TARGET_DIR", self.0.join("target"))
            // Flags for this test, such as those of a sanitizer, are not for the fixture.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .expect("cargo starts")
    }

    /// Runs a program, and returns what it printed.
    fn run(&self, program: &str) -> String {
        let output = self.cargo(&["run", "--quiet", "--bin", program]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let errors = text(&output.stderr);
        assert!(output.status.success(), "{program} failed:\n{errors}");
        assert!(!errors.contains("was not used"), "{errors}");
        text(&output.stdout)
    }
}

#[test]
fn programs_on_smol_and_async_std_run_through_the_patch() {
    let fixture = Fixture::new();
    let printed = fixture.run("on_smol");
    // What an executor of ours says of itself.
    assert!(
        printed.starts_with("Executor { tasks: 1, injector: "),
        "{printed}"
    );
    assert_eq!(fixture.run("on_async_std"), "50 clients\n");

    // Nothing in the program uses any other: ours has no source in the lock file.
    let lock = fs::read_to_string(fixture.0.join("Cargo.lock")).expect("cargo wrote it");
    let entries: Vec<&str> = lock
        .split("[[package]]")
        .filter(|entry| entry.contains("name = \"async-executor\""))
        .collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert!(!entries[0].contains("source = "), "{entries:?}");
}
