import { processIo, run } from './cli/run.ts'

// `jeton key list | head -1`: whoever reads has had enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const code = await run(processIo())
// At once after a failure, whatever is still open; after `serve` the service goes on.
if (code !== 0) process.exit(code)
