//! Macros inside of nodes use names as expressions do, also in format strings.

use ws_executor::task_graph;

macro_rules! twice {
    ($value:expr) => {
        $value + $value
    };
}

macro_rules! odd_syntax {
    (of $value:ident => $other:ident) => {
        $value.len() + $other.len()
    };
}

macro_rules! fail {
    ($reason:expr) => {
        return Err($reason.to_string())
    };
}

struct Pair {
    name: String,
    size: usize,
}

#[task_graph]
async fn report(name: String, wrong: bool) -> Result<String, String> {
    let size = name.len();
    let double = twice!(size);
    let list = vec![double, size, name.len()];
    let same = vec![size; 2];
    let line = format!("{name} {size:>width$} {list:?} {}", same.len(), width = 3);
    let odd = odd_syntax!(of name => line);
    let matched = matches!(size, 4);
    if wrong {
        fail!("wrong");
    }
    assert!(matched, "{name}");
    println!("{line}");
    let pair = Pair { name, size };
    let Pair { name: other, size: bytes } = pair;
    Ok(format!("{other} {bytes} {odd}"))
}

mod own {
    macro_rules! skip {
        () => {
            continue
        };
    }
    pub(crate) use skip;
}

#[task_graph]
async fn odd(to: u32) -> u32 {
    let sum = {
        let mut sum = 0;
        for n in 0..to {
            if n % 2 == 0 {
                own::skip!();
            }
            sum += n;
        }
        sum
    };
    sum
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        assert_eq!(odd(4).await, 4);
        assert_eq!(odd::on(&handle).run(4).await, 4);
        let expected = Ok("name 4 24".to_owned());
        assert_eq!(report("name".into(), false).await, expected);
        assert_eq!(report::on(&handle).run("name".into(), false).await, expected);
        assert_eq!(report::on(&handle).run("name".into(), true).await, Err("wrong".into()));
    });
}
