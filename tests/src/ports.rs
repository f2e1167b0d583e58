//! Loopback ports for servers that must come back on the same port.
//!
//! Asking the kernel for a free port and releasing it again is a race: another test, or the source
//! port of any outgoing connection, takes it while the server is down. So ports come in blocks from
//! below the ephemeral range, and a block belongs to the process that has the listener on its first
//! port: across threads and processes, and until that process ends, however it ends. A port on
//! which another process listens is never assigned.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context as _, bail};

/// The first block; Linux takes ephemeral ports from 32768 up, macOS from 49152 up.
const FIRST_PORT: u16 = 20_000;
const PORTS_PER_BLOCK: u16 = 32;
const BLOCKS: u16 = 390;

/// A range of loopback ports that nobody else who asks here gets.
#[derive(Debug)]
pub(crate) struct PortBlock {
    /// Never accepted from; open for as long as the block is owned.
    _claim: TcpListener,
    next: u16,
    end: u16,
}

impl PortBlock {
    pub(crate) fn claim() -> anyhow::Result<Self> {
        // Processes begin at different blocks only to find a free one sooner.
        let start = u16::try_from(std::process::id() % u32::from(BLOCKS))?;
        for step in 0..BLOCKS {
            let first = FIRST_PORT + ((start + step) % BLOCKS) * PORTS_PER_BLOCK;
            if let Ok(claim) = TcpListener::bind((Ipv4Addr::LOCALHOST, first)) {
                return Ok(Self {
                    _claim: claim,
                    next: first + 1,
                    end: first + PORTS_PER_BLOCK,
                });
            }
        }
        bail!("all {BLOCKS} blocks of loopback ports from {FIRST_PORT} up are taken")
    }

    pub(crate) fn take(&mut self) -> anyhow::Result<u16> {
        while self.next < self.end {
            let port = self.next;
            self.next += 1;
            if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Ok(port);
            }
        }
        Err(anyhow::anyhow!("all {PORTS_PER_BLOCK} ports are taken"))
            .with_context(|| format!("port block ending at {}", self.end))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn two_blocks_share_no_port_and_a_block_ends() {
        let (mut one, mut other) = (PortBlock::claim().unwrap(), PortBlock::claim().unwrap());
        let mut seen = BTreeSet::new();
        for block in [&mut one, &mut other] {
            while let Ok(port) = block.take() {
                assert!(seen.insert(port), "port {port} was handed out twice");
            }
        }
        assert!(seen.len() > usize::from(PORTS_PER_BLOCK));
    }

    #[test]
    fn a_port_in_use_is_passed_over() {
        let mut block = PortBlock::claim().unwrap();
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, block.next)).unwrap();
        assert_ne!(block.take().unwrap(), taken.local_addr().unwrap().port());
    }
}
