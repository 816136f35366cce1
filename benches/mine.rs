//! temporary
#![allow(unsafe_code)]
use moonkeep::sim::{Explore, Reduction, Search, World};
use moonkeep::{Engine, Error};
use std::hint::black_box;
fn cpu() -> f64 {
    let mut t = [0i64; 2];
    unsafe extern "C" { fn clock_gettime(id: i32, t: *mut i64) -> i32; }
    unsafe { clock_gettime(3, t.as_mut_ptr()) };
    t[0] as f64 + t[1] as f64 * 1e-9
}
fn rtw(clients: usize) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.setup(["SET", "stock", "10"]);
        for name in &["A", "B", "C", "D"][..clients] {
            world.client(name, |client| async move {
                let stock: i64 = client.query(["GET", "stock"]).await?;
                client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
                Ok::<_, Error>(())
            });
        }
    })
    .outcome(|_| String::new())
    .threads(1)
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let what = args.get(1).map(String::as_str).unwrap_or("all");
    let has = |w: &str| what == "all" || what == "--bench" || what == w;
    if has("random") {
        for _ in 0..3 {
            let t = cpu();
            let r = rtw(2).search(Search::Random { seed: 1, runs: 50_000 }).run().unwrap();
            println!("random 4 steps: {:.0}/s", r.schedules() as f64 / (cpu() - t));
        }
    }
    if has("exh") {
        for red in [Reduction::None, Reduction::SleepSets, Reduction::States] {
            for _ in 0..2 {
                let t = cpu();
                let mut n = 0;
                for _ in 0..10 { n += rtw(4).reduction(red).run().unwrap().schedules(); }
                println!("8 steps {red:?}: {:.0}/s {} in {:.4}", n as f64 / (cpu() - t), n/10, (cpu()-t)/10.);
            }
        }
    }
    if has("fork") {
        for keys in [0, 10, 1000] {
            let engine = Engine::new();
            let mut client = engine.client();
            for key in 0..keys { client.call(["SET", &format!("key:{key}"), "value"]).expect("OK"); }
            for _ in 0..2 {
                let t = cpu();
                for _ in 0..20_000 { black_box(engine.fork().expect("a fork")); }
                println!("fork {keys} keys: {:.0} ns", (cpu() - t) / 20_000. * 1e9);
            }
        }
    }
}
