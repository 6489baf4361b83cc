import { processIo, run } from './cli/run.ts'

// In `jeton key list | head -1` the reader closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const code = await run(processIo())
// Exits immediately after a failure, even if something is still open. After `serve` the service keeps running.
if (code !== 0) process.exit(code)
