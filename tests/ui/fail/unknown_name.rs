//! A slip of the finger.

use ws_executor::task_graph;

#[task_graph]
async fn page(text: String) -> String {
    let layout = text.len();
    let colour = String::from("red");
    let page = render(layuot, &colour);
    let title = format!("{colur}");
    page + &titel
}

fn render(width: usize, colour: &str) -> String {
    colour.repeat(width)
}

fn main() {}
