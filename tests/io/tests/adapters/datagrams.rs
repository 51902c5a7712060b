//! Datagrams keep their bounds.

use io_tests::world::World;
use ws_executor::Handle;

pub(crate) fn udp<W: World>(_: &str) {
    let (executor, _keep) = W::start(2);
    let whole = executor.spawn(async {
        let (server, to) = W::udp().await.unwrap();
        let (client, _) = W::udp().await.unwrap();
        let answers = Handle::current().spawn(async move {
            let mut data = [0; 2048];
            loop {
                let (count, from) = W::receive_from(&server, &mut data).await.unwrap();
                W::send_to(&server, &data[..count], from).await.unwrap();
                if count == 0 {
                    return;
                }
            }
        });
        // One at a time: the loopback loses nothing then.
        for size in (0..1000).rev() {
            let sent = vec![size as u8; size];
            assert_eq!(W::send_to(&client, &sent, to).await.unwrap(), size);
            let mut data = [0; 2048];
            let (count, from) = W::receive_from(&client, &mut data).await.unwrap();
            assert_eq!((&data[..count], from), (&sent[..], to));
        }
        answers.await;
    });
    executor.block_on(whole);
}
