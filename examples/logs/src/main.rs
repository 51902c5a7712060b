//! A log pipeline: reads an access log, parses each line, asks an HTTP service where the
//! client is, and writes rows into SQLite, hundreds in a transaction. `line.rs` has the graph.
//!
//! ```sh
//! cargo run --release -p logs                     # 100,000 lines
//! cargo run --release -p logs -- 20000 DIRECTORY  # so many, files are kept there
//! ```
//!
//! Lines that are no log lines go to a file of dead letters; lines of clients that the
//! service does not know are skipped. Ctrl-C drains the pipeline. Started again with the
//! same directory, also after a crash, it goes on where it was: the position in the log is
//! kept beside it, and a row that is written twice replaces itself.

#![forbid(unsafe_code)]

mod access_log;

mod line;
mod lookup;
mod store;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, process, thread};

use futures::channel::oneshot;
use futures::future::{Either, select};
use indicatif::{ProgressBar, ProgressStyle};
use ws_executor::Executor;
use ws_executor::pipeline::files::{AppendJson, Lines};
use ws_executor::pipeline::{Report, Route, Watch};

use self::line::{Fault, ingest};
use self::store::Store;

/// After Ctrl-C, what is in flight may take so long.
const GRACE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let lines: u64 = match arguments.next().map(|lines| lines.parse()) {
        None => 100_000,
        Some(Ok(lines)) => lines,
        Some(Err(_)) => return Err("usage: logs [lines] [directory]".into()),
    };
    let (directory, kept) = match arguments.next() {
        Some(directory) => (PathBuf::from(directory), true),
        None => (
            env::temp_dir().join(format!("logs-{}", process::id())),
            false,
        ),
    };
    fs::create_dir_all(&directory)?;
    let log = directory.join("access.log");
    if !log.exists() {
        access_log::generate(&log, lines)?;
    }

    let executor = ws_io_adapters::smol::executor(Executor::builder())?;
    let report = executor.block_on(run(&executor, &directory, &log, lines))?;
    println!("{report}");
    println!("country     requests         bytes");
    for (country, requests, bytes) in Store::open(&directory.join("requests.db"))?.totals()? {
        println!("{country:<9} {requests:>10} {bytes:>13}");
    }
    let letters = fs::read_to_string(directory.join("rejected.jsonl"))?;
    println!("{} lines rejected, such as:", letters.lines().count());
    for letter in letters.lines().take(2) {
        println!("  {letter}");
    }
    if !kept {
        fs::remove_dir_all(directory)?;
    }
    Ok(())
}

async fn run(
    executor: &Executor,
    directory: &Path,
    log: &Path,
    lines: u64,
) -> Result<Report, Box<dyn Error>> {
    let service = lookup::serve(&executor.handle()).await?;
    let shared = ingest::Shared {
        lookup: Arc::new(lookup::Client::new(service, executor.handle())),
        store: Arc::new(Store::open(&directory.join("requests.db"))?),
    };
    let running = ingest::bind(&executor.handle(), shared)
        .source(Lines::open(log)?)
        .in_flight(2048)
        .on_error(|failure| match failure.error {
            Some(Fault::NoLogLine(_)) => Route::DeadLetter,
            Some(Fault::UnknownClient) => Route::Skip,
            Some(Fault::Lookup(_) | Fault::Store(_)) | None => Route::Stop,
        })
        .dead_letter(AppendJson::open(directory.join("rejected.jsonl"))?)
        .build()?
        .start();
    let bar = show_progress(running.watch(), lines);

    let (interrupt, mut interrupted) = oneshot::channel::<()>();
    let mut interrupt = Some(interrupt);
    ctrlc::set_handler(move || drop(interrupt.take()))?;
    let mut running = running;
    let outcome = match select(pin!(&mut running), &mut interrupted).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => running.drain(GRACE).await,
    };
    bar.join().map_err(|_| "the progress bar broke")?;
    Ok(outcome?)
}

/// Draws a bar until the run is over; nothing, where there is no terminal.
fn show_progress(watch: Watch, lines: u64) -> thread::JoinHandle<()> {
    let style = "{bar:40} {pos}/{len} lines, {per_sec}, {msg}";
    let style = ProgressStyle::with_template(style).expect("the template is right");
    let bar = ProgressBar::new(lines).with_style(style);
    thread::spawn(move || {
        loop {
            let now = watch.progress();
            bar.set_position(now.items - now.in_flight);
            let (in_flight, rejected) = (now.in_flight, now.dead_lettered);
            bar.set_message(format!("{in_flight} in flight, {rejected} rejected"));
            if watch.is_over() {
                break bar.finish();
            }
            thread::sleep(Duration::from_millis(100));
        }
    })
}
