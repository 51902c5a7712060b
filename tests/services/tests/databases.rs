//! Databases: sqlx with SQLite and PostgreSQL, and Redis, by 200 tasks at once, on the
//! executor of each adapter.
#![cfg(target_os = "linux")]

use futures::future::{join_all, try_join_all};
use redis::AsyncCommands;
use service_tests::Server;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};
use sqlx::{PgPool, SqlitePool};
use tests::watchdog::guard;
use ws_executor::{Executor, Handle};

const TASKS: i64 = 200;

/// Runs `test` on an executor with two workers on tokio's I/O, and on one on smol's.
///
/// sqlx and redis look for a tokio runtime, and take async-io where there is none.
fn on_each<F: Future<Output = ()>>(name: &str, test: impl Fn() -> F) {
    let builder = || Executor::builder().workers(2);
    guard(&format!("{name} on tokio"), || {
        let executor = ws_io_adapters::tokio::executor(builder()).unwrap();
        executor.block_on(test());
    });
    guard(&format!("{name} on smol"), || {
        let executor = ws_io_adapters::smol::executor(builder()).unwrap();
        executor.block_on(test());
    });
}

/// Spawns all, and returns their outputs, in order.
async fn spawn_all<F>(task: impl Fn(i64) -> F) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    join_all((0..TASKS).map(|n| Handle::current().spawn(task(n)))).await
}

#[test]
fn sqlite() {
    on_each("SQLite", || async {
        let directory = std::env::temp_dir().join(format!("ws-sqlite-{}", std::process::id()));
        let file = directory.with_extension("db");
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            // Its waiters do not queue: on a slow machine one may lose again and again.
            .busy_timeout(std::time::Duration::from_secs(100))
            .journal_mode(SqliteJournalMode::Wal);
        let pool = SqlitePoolOptions::new().max_connections(4);
        let pool = pool.connect_with(options).await.unwrap();
        sqlx::raw_sql("create table t (n integer primary key, square integer not null)")
            .execute(&pool)
            .await
            .unwrap();

        let insert = |n| sqlite_task(pool.clone(), n);
        let read: Result<Vec<i64>, sqlx::Error> = spawn_all(insert).await.into_iter().collect();
        assert_eq!(read.unwrap(), (0..TASKS).map(|n| n * n).collect::<Vec<_>>());
        let count: i64 = sqlx::query_scalar("select count(*) from t")
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(count, TASKS);
        pool.close().await;
        for suffix in ["db", "db-wal", "db-shm"] {
            let _ = std::fs::remove_file(directory.with_extension(suffix));
        }
    });
}

/// Inserts a row in a transaction, and reads it back after that.
async fn sqlite_task(pool: SqlitePool, n: i64) -> sqlx::Result<i64> {
    // `immediate`: whoever is going to write waits for its turn at the beginning.
    let mut transaction = pool.begin_with("begin immediate").await?;
    sqlx::query("insert into t values (?, ?)")
        .bind(n)
        .bind(n * n)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    sqlx::query_scalar("select square from t where n = ?")
        .bind(n)
        .fetch_one(&pool)
        .await
}

#[test]
fn postgresql() {
    let Some(server) = Server::postgres() else {
        return;
    };
    on_each("PostgreSQL", || async {
        let options = PgConnectOptions::new_without_pgpass()
            .socket(server.directory())
            .username("postgres")
            .database("postgres");
        let pool = PgPoolOptions::new().max_connections(20);
        let pool = pool.connect_with(options).await.unwrap();
        let tables = "drop table if exists t; create table t (n bigint primary key); \
                      drop table if exists total; create table total (sum bigint not null); \
                      insert into total values (0)";
        sqlx::raw_sql(tables).execute(&pool).await.unwrap();

        let insert = |n| postgres_task(pool.clone(), n);
        let committed: sqlx::Result<Vec<bool>> = spawn_all(insert).await.into_iter().collect();
        // Every tenth one changed its mind.
        let expected: i64 = (0..TASKS).filter(|n| n % 10 != 0).sum();
        let count = committed.unwrap().into_iter().filter(|it| *it).count();
        assert_eq!(count, TASKS as usize * 9 / 10);
        let sums: (i64, i64) =
            sqlx::query_as("select (select sum from total), (select sum(n) from t)::bigint")
                .fetch_one(&pool)
                .await
                .unwrap();
        assert_eq!(sums, (expected, expected));
        pool.close().await;
    });
}

/// Adds `n` to the total and to the table, in one transaction; whether it was committed.
async fn postgres_task(pool: PgPool, n: i64) -> sqlx::Result<bool> {
    let mut transaction = pool.begin().await?;
    sqlx::query("insert into t values ($1)")
        .bind(n)
        .execute(&mut *transaction)
        .await?;
    sqlx::query("select pg_sleep(0.002)")
        .execute(&mut *transaction)
        .await?;
    sqlx::query("update total set sum = sum + $1")
        .bind(n)
        .execute(&mut *transaction)
        .await?;
    if n % 10 == 0 {
        // Rolled back when it is dropped.
        return Ok(false);
    }
    transaction.commit().await?;
    Ok(true)
}

#[test]
fn redis() {
    let Some(server) = Server::redis() else {
        return;
    };
    on_each("Redis", || async {
        let socket = server.directory().join("socket");
        let client = redis::Client::open(format!("unix://{}", socket.display())).unwrap();
        // One connection that all tasks share, and one for each of them.
        let shared = redis_connection(&client).await.unwrap();
        let _: () = redis::cmd("FLUSHALL")
            .query_async(&mut shared.clone())
            .await
            .unwrap();
        let sums = spawn_all(|n| redis_task(client.clone(), shared.clone(), n)).await;
        let sums: Result<Vec<i64>, redis::RedisError> = sums.into_iter().collect();
        let mut sums = sums.unwrap();
        // Each one saw another sum, and one the last.
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), TASKS as usize);
        assert_eq!(sums.last(), Some(&TASKS));

        let all = (0..TASKS).map(|n| {
            let mut shared = shared.clone();
            async move { shared.get::<_, i64>(format!("square {n}")).await }
        });
        let squares = try_join_all(all).await.unwrap();
        assert_eq!(squares, (0..TASKS).map(|n| n * n).collect::<Vec<_>>());
    });
}

/// A connection that waits for its answers, however long a slow machine takes.
async fn redis_connection(
    client: &redis::Client,
) -> redis::RedisResult<redis::aio::MultiplexedConnection> {
    let config = redis::AsyncConnectionConfig::new()
        .set_connection_timeout(None)
        .set_response_timeout(None);
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

async fn redis_task(
    client: redis::Client,
    mut shared: redis::aio::MultiplexedConnection,
    n: i64,
) -> redis::RedisResult<i64> {
    let mut own = redis_connection(&client).await?;
    let () = own.set(format!("square {n}"), n * n).await?;
    let square: i64 = shared.get(format!("square {n}")).await?;
    assert_eq!(square, n * n);
    own.incr("sum", 1).await
}
