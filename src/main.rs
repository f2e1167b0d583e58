//! The `kubereel` program.

use std::process::ExitCode;

/// Values of JSON are many small allocations: the allocator of a static program takes several times as long
/// for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kubereel::main()
}
