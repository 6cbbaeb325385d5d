/** What `svc up` prints when it listens: where the console is, and who can reach it. */
import { isIPv6 } from 'node:net'
import { isLoopbackHost } from '../../host-rules.ts'

/** The address people open; an address that means "all" is shown as the loopback one. */
export function consoleUrl(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host
  return `http://${shown}:${port}`
}

/**
 * The lines of a start. A token that was given is known to whoever gave it, and logs of containers are read by
 * more people than that: only a token that svc made is shown.
 * @param rootToken null in open mode.
 */
export function describeStart(
  url: string,
  folder: string,
  rootToken: string | null,
  isGiven = false,
): string {
  const first = `svc: console at ${url}  ·  data in ${folder}`
  if (rootToken === null) return `${first}  ·  auth OFF (open; run with --auth to require a login)\n`
  return isGiven
    ? `${first}\nsvc: auth ON; log in at ${url} with the token that was given\n`
    : `${first}\nsvc: auth ON; log in at ${url}/?token=${encodeURIComponent(rootToken)}\n`
}

/** Where OTLP/gRPC listens, or why it does not; nothing where it is switched off. */
export function describeOtlpGrpc(
  host: string,
  { port, problem }: { port: number | null; problem: string | null },
): string {
  if (problem !== null) return `svc: OTLP/gRPC is off: ${problem}\n`
  return port === null ? '' : `svc: OTLP/gRPC at ${isIPv6(host) ? `[${host}]` : host}:${port}\n`
}

/** Where syslog is taken, or why it is not; nothing where it is switched off. */
export function describeSyslog(
  host: string,
  { port, tlsPort, problem }: { port: number | null; tlsPort: number | null; problem: string | null },
): string {
  const name = isIPv6(host) ? `[${host}]` : host
  const open = [
    ...(port === null ? [] : [`${name}:${port}, TCP and UDP`]),
    ...(tlsPort === null ? [] : [`${name}:${tlsPort}, TLS`]),
  ]
  const at = open.length ? `svc: syslog at ${open.join('; at ')}\n` : ''
  return problem === null ? at : `${at}svc: syslog is ${open.length ? 'partly ' : ''}off: ${problem}\n`
}

/** A warning for an open daemon that other machines can reach, or null when they cannot. */
export function warnIfExposed(host: string, port: number, rootToken: string | null): string | null {
  if (rootToken !== null || isLoopbackHost(host)) return null
  const rule = '!'.repeat(76)
  return [
    rule,
    `!! svc listens on ${host}:${port} WITHOUT a login.`,
    '!! Everybody who can reach this address can read, change and delete everything.',
    '!! Run it with --auth (or set SVC_AUTH_TOKEN), or bind it to 127.0.0.1.',
    rule,
    '',
  ].join('\n')
}
