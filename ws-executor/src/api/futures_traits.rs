//! The spawning traits: those of the `futures` crate, and our own.

use futures_task::{FutureObj, LocalFutureObj, LocalSpawn, Spawn, SpawnError};

use crate::{Executor, Handle, LocalExecutor};

/// The result of `status`: a shut-down executor accepts no tasks.
fn open(handle: &Handle) -> Result<(), SpawnError> {
    if handle.is_shut_down() {
        return Err(SpawnError::shutdown());
    }
    Ok(())
}

impl Spawn for Handle {
    fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        open(self)?;
        self.spawn(future).detach();
        Ok(())
    }

    fn status(&self) -> Result<(), SpawnError> {
        open(self)
    }
}

impl Spawn for Executor {
    fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.handle_ref().spawn_obj(future)
    }

    fn status(&self) -> Result<(), SpawnError> {
        open(self.handle_ref())
    }
}

impl LocalSpawn for LocalExecutor {
    fn spawn_local_obj(&self, future: LocalFutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.spawn(future).detach();
        Ok(())
    }
}

impl ws_core::Spawn for Handle {
    fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Handle::spawn(self, future).detach();
    }

    fn parallelism(&self) -> usize {
        self.workers()
    }
}

impl ws_core::Spawn for Executor {
    fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.handle_ref().spawn(future).detach();
    }

    fn parallelism(&self) -> usize {
        self.workers()
    }
}
