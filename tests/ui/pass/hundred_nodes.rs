//! A hundred nodes, of which two run at a time.

use ws_executor::task_graph;

async fn step(n: u32) -> u32 {
    (n + 1) % 1009
}

#[task_graph]
async fn hundred(start: u32) -> u32 {
    let n0 = step(start).await;
    let n1 = step(n0).await;
    let n2 = step(n0).await;
    let n3 = step(n2 + n1).await;
    let n4 = step(n3).await;
    let n5 = step(n3).await;
    let n6 = step(n5 + n4).await;
    let n7 = step(n6).await;
    let n8 = step(n6).await;
    let n9 = step(n8 + n7).await;
    let n10 = step(n9).await;
    let n11 = step(n9).await;
    let n12 = step(n11 + n10).await;
    let n13 = step(n12).await;
    let n14 = step(n12).await;
    let n15 = step(n14 + n13).await;
    let n16 = step(n15).await;
    let n17 = step(n15).await;
    let n18 = step(n17 + n16).await;
    let n19 = step(n18).await;
    let n20 = step(n18).await;
    let n21 = step(n20 + n19).await;
    let n22 = step(n21).await;
    let n23 = step(n21).await;
    let n24 = step(n23 + n22).await;
    let n25 = step(n24).await;
    let n26 = step(n24).await;
    let n27 = step(n26 + n25).await;
    let n28 = step(n27).await;
    let n29 = step(n27).await;
    let n30 = step(n29 + n28).await;
    let n31 = step(n30).await;
    let n32 = step(n30).await;
    let n33 = step(n32 + n31).await;
    let n34 = step(n33).await;
    let n35 = step(n33).await;
    let n36 = step(n35 + n34).await;
    let n37 = step(n36).await;
    let n38 = step(n36).await;
    let n39 = step(n38 + n37).await;
    let n40 = step(n39).await;
    let n41 = step(n39).await;
    let n42 = step(n41 + n40).await;
    let n43 = step(n42).await;
    let n44 = step(n42).await;
    let n45 = step(n44 + n43).await;
    let n46 = step(n45).await;
    let n47 = step(n45).await;
    let n48 = step(n47 + n46).await;
    let n49 = step(n48).await;
    let n50 = step(n48).await;
    let n51 = step(n50 + n49).await;
    let n52 = step(n51).await;
    let n53 = step(n51).await;
    let n54 = step(n53 + n52).await;
    let n55 = step(n54).await;
    let n56 = step(n54).await;
    let n57 = step(n56 + n55).await;
    let n58 = step(n57).await;
    let n59 = step(n57).await;
    let n60 = step(n59 + n58).await;
    let n61 = step(n60).await;
    let n62 = step(n60).await;
    let n63 = step(n62 + n61).await;
    let n64 = step(n63).await;
    let n65 = step(n63).await;
    let n66 = step(n65 + n64).await;
    let n67 = step(n66).await;
    let n68 = step(n66).await;
    let n69 = step(n68 + n67).await;
    let n70 = step(n69).await;
    let n71 = step(n69).await;
    let n72 = step(n71 + n70).await;
    let n73 = step(n72).await;
    let n74 = step(n72).await;
    let n75 = step(n74 + n73).await;
    let n76 = step(n75).await;
    let n77 = step(n75).await;
    let n78 = step(n77 + n76).await;
    let n79 = step(n78).await;
    let n80 = step(n78).await;
    let n81 = step(n80 + n79).await;
    let n82 = step(n81).await;
    let n83 = step(n81).await;
    let n84 = step(n83 + n82).await;
    let n85 = step(n84).await;
    let n86 = step(n84).await;
    let n87 = step(n86 + n85).await;
    let n88 = step(n87).await;
    let n89 = step(n87).await;
    let n90 = step(n89 + n88).await;
    let n91 = step(n90).await;
    let n92 = step(n90).await;
    let n93 = step(n92 + n91).await;
    let n94 = step(n93).await;
    let n95 = step(n93).await;
    let n96 = step(n95 + n94).await;
    let n97 = step(n96).await;
    let n98 = step(n96).await;
    let n99 = step(n98 + n97).await;
    n98 + n99
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        assert_eq!(hundred(1).await, 1704);
        assert_eq!(hundred::on(&handle).run(1).await, 1704);
    });
}
