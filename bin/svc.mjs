#!/usr/bin/env node
// The command, once it is built. Node built-ins only, so that this message can be given.
import { existsSync } from 'node:fs'

const built = new URL('../dist/svc.mjs', import.meta.url)
if (existsSync(built)) await import(built.href)
else {
  process.stderr.write('svc: not built yet; run: npm run setup\n')
  process.exitCode = 1
}
