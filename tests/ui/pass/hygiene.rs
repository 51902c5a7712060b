//! Names like the macro's own, like functions and like keywords; graphs inside functions
//! and modules; the runtime under another name.

#![deny(warnings, missing_docs, unreachable_pub, unused, clippy::all)]

extern crate ws_executor as other_name;

/// Public graphs have public parts.
pub mod shop {
    /// A type that only this module names.
    #[derive(Debug, PartialEq)]
    pub struct Price(pub u32);

    /// Doubles, and adds.
    #[other_name::task_graph(crate = ::other_name)]
    pub async fn price(__values: u32, __ctx: u32) -> Price {
        let __step = __values;
        let rt = super::rt(__ctx).await;
        let run = super::rt(__values).await;
        let group: u32 = rt + run;
        let r#type = group + __step;
        Price(r#type)
    }
}

async fn rt(n: u32) -> u32 {
    n
}

async fn stock(n: u32) -> u32 {
    n
}

fn main() {
    use ws_executor::task_graph;

    #[derive(Debug, PartialEq)]
    struct Local(u32);

    #[task_graph]
    async fn inside(n: u32) -> Local {
        const ONE: u32 = 1;
        fn add(n: u32) -> u32 {
            n + ONE
        }
        // The function, and then the node.
        let stock = stock(n).await;
        let other = rt(n).await;
        Local(add(stock) + other)
    }

    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        assert_eq!(shop::price(1, 2).await, shop::Price(4));
        assert_eq!(shop::price::on(&handle).run(1, 2).await, shop::Price(4));
        assert_eq!(inside(1).await, Local(3));
        assert_eq!(inside::on(&handle).run(1).await, Local(3));
    });
}
