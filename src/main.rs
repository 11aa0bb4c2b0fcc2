//! The program: sets up TLS, hands over to the library, returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Fails only if a provider was installed before, and then there is one.
    drop(rustls::crypto::ring::default_provider().install_default());
    statewarden::cli::run(std::env::args_os()).into()
}
