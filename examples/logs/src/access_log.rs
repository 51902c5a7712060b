//! Access logs in the common format: made up, and parsed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::net::Ipv4Addr;
use std::path::Path;

use ws_core::FastRand;

/// One in so many lines is none.
const BROKEN: u32 = 200;

/// Writes a log of so many lines, always the same ones.
///
/// Each request has a number, as servers add it to tell requests apart.
pub(crate) fn generate(path: &Path, lines: u64) -> io::Result<()> {
    let half_done = path.with_extension("part");
    let mut log = BufWriter::new(File::create(&half_done)?);
    let mut rand = FastRand::new(7);
    for request in 0..lines {
        if rand.below(BROKEN) == 0 {
            writeln!(
                log,
                "connection reset by peer, {} bytes sent",
                rand.below(1000)
            )?;
            continue;
        }
        let client = Ipv4Addr::from(0x0a00_0000 | rand.below(1 << 16));
        let (second, status) = (
            request / 100,
            [200, 200, 200, 304, 404][rand.below(5) as usize],
        );
        let page = rand.below(500);
        let bytes = 200 + rand.below(20_000);
        writeln!(
            log,
            "{client} - {request} [{second}] \"GET /page/{page} HTTP/1.1\" {status} {bytes}"
        )?;
    }
    log.into_inner()?.sync_all()?;
    fs::rename(half_done, path)
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) client: Ipv4Addr,
    pub(crate) request: i64,
    pub(crate) second: i64,
    pub(crate) page: String,
    pub(crate) status: u16,
    pub(crate) bytes: i64,
}

/// A line that is none of an access log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoLogLine {
    expected: &'static str,
}

impl fmt::Display for NoLogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no log line: expected {}", self.expected)
    }
}

/// Reads a line.
pub(crate) fn parse(line: &str) -> Result<Entry, NoLogLine> {
    let expected = |expected| NoLogLine { expected };
    let mut words = line.split(' ');
    let mut word = |name| words.next().ok_or(expected(name));
    let client = word("a client")?
        .parse()
        .map_err(|_| expected("a client"))?;
    word("a dash")?;
    let request = word("a number")?
        .parse()
        .map_err(|_| expected("a number"))?;
    let second = word("a time")?
        .trim_matches(['[', ']'])
        .parse()
        .map_err(|_| expected("a time"))?;
    word("a method")?;
    let page = word("a page")?.to_owned();
    word("a version")?;
    let status = word("a status")?
        .parse()
        .map_err(|_| expected("a status"))?;
    let bytes = word("a size")?.parse().map_err(|_| expected("a size"))?;
    Ok(Entry {
        client,
        request,
        second,
        page,
        status,
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::{Entry, parse};

    #[test]
    fn a_line_is_read_as_it_is_written() {
        let line = "10.0.1.2 - 17 [3] \"GET /page/4 HTTP/1.1\" 200 512";
        let entry = Entry {
            client: [10, 0, 1, 2].into(),
            request: 17,
            second: 3,
            page: "/page/4".into(),
            status: 200,
            bytes: 512,
        };
        assert_eq!(parse(line), Ok(entry));
        let error = parse("connection reset by peer").unwrap_err();
        assert_eq!(error.to_string(), "no log line: expected a client");
    }
}
