/** Not a setting: what the primary says to a process that it starts. An IPC channel alone tells nothing, pm2 has one too. */
const MARK = 'WORKER_OF_JETON'

export const markWorker = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  [MARK]: String(process.pid),
})

/** Whether this process was started by a primary. */
export const isWorker = (): boolean =>
  process.env[MARK] === String(process.ppid) && process.send !== undefined

/** As `isWorker`. The mark is for this process alone, so it is taken off. */
export function takeMark(): boolean {
  const marked = isWorker()
  delete process.env[MARK]
  return marked
}
