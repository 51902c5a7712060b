//! Rows in SQLite: those of a batch go in with one transaction.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, params};

use crate::line::{Fault, Row};

/// A database of requests.
pub(crate) struct Store {
    connection: Arc<Mutex<Connection>>,
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
            connection: Arc::new(Mutex::new(connection)),
        })
    }

    /// Writes rows, and returns their keys.
    pub(crate) async fn insert(&self, rows: Vec<Row>) -> Result<Vec<i64>, Fault> {
        let connection = self.connection.clone();
        // SQLite blocks: not on a worker.
        let insert = move || insert(&mut locked(&connection), &rows);
        let written = ws_executor::spawn_blocking(insert).await;
        written.map_err(|error| Fault::Store(error.to_string()))
    }

    /// Requests and bytes of each country.
    pub(crate) fn totals(&self) -> rusqlite::Result<Vec<(String, i64, i64)>> {
        let connection = locked(&self.connection);
        let mut select = connection.prepare(
            "SELECT country, count(*), sum(bytes) FROM requests GROUP BY country ORDER BY country",
        )?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.collect()
    }
}

fn locked(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A transaction that panicked was rolled back.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes rows. One that is there is replaced by itself: after a crash some come again.
fn insert(connection: &mut Connection, rows: &[Row]) -> rusqlite::Result<Vec<i64>> {
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
    transaction.commit()?;
    Ok(rows.iter().map(|row| row.entry.request).collect())
}
