//! A slip of the finger, and a node that nobody uses for it. The others are rustc's, which
//! knows what else there is: `ui/rustc/misspelt_name.rs`.

use ws_executor::task_graph;

#[task_graph]
async fn page(text: String) -> String {
    let layout = text.len();
    let colour = String::from("red");
    let page = render(layuot, &colour);
    let title = format!("{colour}");
    page + &titel
}

fn render(width: usize, colour: &str) -> String {
    colour.repeat(width)
}

fn main() {}
