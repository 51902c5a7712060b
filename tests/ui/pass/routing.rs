//! `match`, `if`, loops and blocks are nodes, and fences return early.

use ws_executor::task_graph;

#[derive(Clone, Copy)]
enum Kind {
    Small,
    Large(u32),
    Wrong,
}

#[task_graph]
async fn route(kind: Kind) -> Result<u32, &'static str> {
    let way = match kind {
        Kind::Small => small().await?,
        Kind::Large(size) if size > 10 => large(size).await,
        Kind::Large(size) => {
            let mut sum = 0;
            for step in 0..size {
                sum += small().await? + step;
            }
            sum
        }
        Kind::Wrong => Err("wrong")?,
    };
    let odd = if way % 2 == 1 { Some(way) } else { None };
    if let Some(odd) = odd {
        return Ok(odd);
    }
    let half = { way / 2 };
    Ok(half)
}

#[task_graph]
async fn given(number: Option<u32>) -> Result<u32, &'static str> {
    let some = number.filter(|number| *number > 0);
    check(match some {
        Some(some) => some,
        None => return Ok(check(1).await?),
    })
    .await?;
    check(match check(1).await? {
        1 => 2,
        _ => return Err("never"),
    })
    .await
}

async fn check(number: u32) -> Result<u32, &'static str> {
    if number < 10 {
        Ok(number)
    } else {
        Err("large")
    }
}

async fn small() -> Result<u32, &'static str> {
    Ok(1)
}

async fn large(size: u32) -> u32 {
    size
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        let cases = [
            (Kind::Small, Ok(1)),
            (Kind::Large(12), Ok(6)),
            (Kind::Large(3), Ok(3)),
            (Kind::Wrong, Err("wrong")),
        ];
        for (kind, expected) in cases {
            assert_eq!(route(kind).await, expected);
            assert_eq!(route::on(&handle).run(kind).await, expected);
        }
        for (number, expected) in [(None, Ok(1)), (Some(3), Ok(2)), (Some(10), Err("large"))] {
            assert_eq!(given(number).await, expected);
            assert_eq!(given::on(&handle).run(number).await, expected);
        }
    });
}
