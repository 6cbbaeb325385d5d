/** `node bin/node.mjs FILE [ARGS]`: runs a module of this project under a Node that is new enough. */
import { resolve } from 'node:path'
import { endWithNpm, launch, RuntimeError } from './runtime.mjs'

endWithNpm()
const [file = '', ...args] = process.argv.slice(2)
try {
  await launch(resolve(file), args)
} catch (error) {
  if (!(error instanceof RuntimeError)) throw error
  process.stderr.write(`svc: ${error.message}\n`)
  process.exitCode = 1
}
