/** Stops with a plain sentence on a Node that is too old. Runs before anything is installed. */

const LEAST_MAJOR = 20
const LEAST_MINOR = 19

/** Exits with 1 when this Node is older than the project supports. */
export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR)) return
  process.stderr.write(
    `svc: Node ${LEAST_MAJOR}.${LEAST_MINOR} or newer is needed; this is ${process.versions.node}\n`,
  )
  process.exit(1)
}
