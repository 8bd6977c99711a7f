//! login-1982: what the text says of its figures, and the ratios that it prints.
//!
//! Must not know: the shape of the files.

use crate::shipped::{cell, doubted, shipped, table};

const VMS: &str = "vax-11-780-vms";
const OLD: &str = "vax-11-780-vmunix-4.0";
const NEW: &str = "vax-11-780-vmunix-4.1";

#[test]
fn paging_became_faster_and_the_advice_costs_no_processor_time() {
    let references = shipped();
    let first = table(&references, "login-1982", "table I");
    let cpu = |machine, id| cell(&first, machine, id).seconds.cpu;
    let plain = "vm/paging/sequential";
    assert_eq!(cpu(VMS, plain), Some(39.0));
    assert_eq!(cpu(OLD, plain), Some(67.0));
    assert_eq!(cpu(NEW, plain), Some(77.2));
    // one figure twice is what is doubted
    assert_eq!(cpu(NEW, plain), cpu(NEW, "vm/paging/sequential-advised"));
    for cell in first.iter().filter(|cell| cell.machine == NEW) {
        assert!(doubted(cell));
    }
    let second = table(&references, "login-1982", "table II");
    let random = |machine| cell(&second, machine, "vm/paging/random").seconds;
    let real = [VMS, NEW, OLD].map(|machine| random(machine).real.expect("a time"));
    assert!(real.is_sorted(), "{real:?}");
    // 4.1 is the one that comes near to VMS
    assert!(real[1] / real[0] < 1.2 && real[2] / real[0] > 2.0);
    assert_eq!(
        [VMS, OLD, NEW].map(|machine| random(machine).cpu),
        [Some(31.0), None, Some(69.6)]
    );
}

#[test]
fn pages_at_random_fault_eight_times_as_often() {
    let references = shipped();
    let faults = |place, id| {
        let table = table(&references, "login-1982", place);
        let cell = cell(&table, NEW, id);
        assert!(
            cell.notes
                .iter()
                .any(|note| crate::text(note).contains("reckoned"))
        );
        cell.faults_per_page.expect("faults")
    };
    let random = faults("table II", "vm/paging/random");
    // 4 KB at a time, in pages of 512 bytes
    for id in ["vm/paging/sequential", "vm/paging/sequential-advised"] {
        assert_eq!(random / faults("table I", id), 4096.0 / 512.0);
    }
}

#[test]
fn the_fft_keeps_to_its_ratios() {
    let references = shipped();
    let fft = table(&references, "login-1982", "table IV");
    let times = |machine, n: usize| cell(&fft, machine, &format!("vm/fft/{n}")).seconds;
    for n in [128, 256, 512] {
        let seconds = times(VMS, n);
        let (real, cpu) = (seconds.real.expect("real"), seconds.cpu.expect("cpu"));
        assert!((0.0..=1.0).contains(&(real - cpu)), "alone on the machine");
    }
    for n in [128, 512] {
        let seconds = times(OLD, n);
        assert!(seconds.real > seconds.cpu, "it was not alone, or it paged");
    }
    let ratio = times(NEW, 128).cpu.zip(times(VMS, 128).cpu);
    assert_eq!(ratio.map(|(new, vms)| new / vms), Some(2.25));
    // what the other two ratios make stands in the reasons, since the figures are lost
    for (n, ratio, makes) in [(256, 1.92, "73 seconds"), (512, 1.65, "368 seconds")] {
        let lost = cell(&fft, NEW, &format!("vm/fft/{n}"));
        assert!(lost.is_missing());
        let vms = times(VMS, n).cpu.expect("cpu");
        assert_eq!(format!("{:.0} seconds", ratio * vms), makes);
        assert!(
            lost.notes
                .iter()
                .any(|note| crate::text(note).contains(makes))
        );
    }
}
