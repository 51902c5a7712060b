//! Rows in SQLite: all that gathered goes in with one transaction.

use std::path::Path;

use rusqlite::{Connection, params};
use ws_executor::pipeline::{BoxError, Sink};

use crate::ingest::Row;

/// A database of requests.
pub(crate) struct Store {
    /// There unless a transaction is under way.
    connection: Option<Connection>,
}

impl Store {
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        // A commit is safe once it is in the log file, which is synced with it.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS requests (
                request INTEGER PRIMARY KEY, second INTEGER, client TEXT, country TEXT,
                page TEXT, status INTEGER, bytes INTEGER)",
        )?;
        Ok(Self {
            connection: Some(connection),
        })
    }

    /// Requests and bytes of each country.
    pub(crate) fn totals(&self) -> rusqlite::Result<Vec<(String, i64, i64)>> {
        let connection = self
            .connection
            .as_ref()
            .expect("no transaction is under way");
        let mut select = connection.prepare(
            "SELECT country, count(*), sum(bytes) FROM requests GROUP BY country ORDER BY country",
        )?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.collect()
    }
}

/// Writes rows. One that is there is replaced by itself: after a crash some come again.
fn insert(connection: &mut Connection, rows: &[Row]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction
            .prepare_cached("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?, ?)")?;
        for Row { entry, country } in rows {
            let client = entry.client.to_string();
            insert.execute(params![
                entry.request,
                entry.second,
                client,
                country,
                entry.page,
                entry.status,
                entry.bytes
            ])?;
        }
    }
    transaction.commit()
}

impl Sink<Row> for Store {
    async fn push(&mut self, rows: Vec<Row>) -> Result<(), BoxError> {
        let mut connection = self.connection.take().ok_or("a transaction was cut off")?;
        // SQLite blocks: not on a worker.
        let written = ws_executor::spawn_blocking(move || {
            let written = insert(&mut connection, &rows);
            (connection, written)
        });
        let (connection, written) = written.await;
        self.connection = Some(connection);
        Ok(written?)
    }
}
