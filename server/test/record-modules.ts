/** Preloaded into a process by a test: writes the URL of every module that the process loads to a file. */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES!, `${url}\n`)
    return next(url, context)
  },
})
