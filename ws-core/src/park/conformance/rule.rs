//! A rule, and how it is run: on a thread of its own, under a watchdog.

use core::any::Any;
use core::time::Duration;
use std::string::String;
use std::sync::{Arc, mpsc};
use std::thread;

use crate::Park;

/// Makes the parkers under test, on the thread that needs one.
pub(super) type Make<P> = Arc<dyn Fn() -> P + Send + Sync>;

/// One rule of the suite.
pub(super) struct Rule<P> {
    pub(super) name: &'static str,
    /// The rule of the contract that this rule checks.
    pub(super) contract: u32,
    pub(super) body: fn(&Make<P>),
}

impl<P: Park + 'static> Rule<P> {
    /// Runs the rule on a thread of its own. If the rule is broken, the error says how.
    pub(super) fn run(&self, make: &Make<P>, patience: Duration) -> Result<(), String> {
        let (passed, verdict) = mpsc::channel();
        let (body, make) = (self.body, Arc::clone(make));
        let thread = thread::Builder::new()
            .name(self.name.into())
            .spawn(move || {
                body(&make);
                // The receiver is gone if the watchdog has given up.
                let _ = passed.send(());
            })
            .expect("a thread for the rule");
        match verdict.recv_timeout(patience) {
            Ok(()) => Ok(()),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                Err(std::format!("it hangs; nothing came within {patience:?}"))
            }
            // The sender was dropped by a panic.
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let panic = thread.join().expect_err("the rule ended without a verdict");
                Err(message(&*panic))
            }
        }
    }
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it panics")
        .into()
}
