/** What attributes tell of an exception and of a request, in words for the text of an event. */
import { scalar } from '../scalar.ts'

type Attributes = Record<string, unknown>

const FRAME_MAX = 200

/**
 * Type, message and first frame of an exception (semantic conventions, Exceptions).
 * @param said what the text says already: it is not said twice.
 * @returns empty where there is none.
 */
export function exceptionText(attributes: Attributes, said: string): string {
  const type = scalar(attributes['exception.type'])
  const message = scalar(attributes['exception.message'])
  const stack = scalar(attributes['exception.stacktrace'])
  if (type === undefined && message === undefined && stack === undefined) return ''
  const names = [type, message].filter((part) => part !== undefined && !said.includes(part))
  const frame = stack === undefined ? undefined : frameOf(stack)
  return [names.join(': '), frame === undefined || said.includes(frame) ? '' : frame]
    .filter((part) => part !== '')
    .join(' ')
}

/** Where it was thrown, as the stack of its language says it; undefined: it says no place. */
function frameOf(stack: string): string | undefined {
  const lines = stack
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  // JavaScript, Java and .NET begin with the place, Python ends with it.
  const at = lines.find((line) => /^at\s/.test(line))
  if (at !== undefined) return at.slice(0, FRAME_MAX)
  const python = lines.flatMap((line) => /^File "([^"]+)", line (\d+)(?:, in (.+))?$/.exec(line) ?? [], 1)
  if (python.length >= 4) {
    const [, file, line, inside] = python.slice(-4)
    return `at ${inside ?? '<module>'} (${file}:${line})`.slice(0, FRAME_MAX)
  }
  // Ruby, PHP and Go name a file and a line.
  const place = lines.find((line) => /\.\w+:\d+\b/.test(line))
  return place === undefined ? undefined : `at ${place}`.slice(0, FRAME_MAX)
}

/**
 * Method, route and status of a request (semantic conventions, HTTP; the names before 1.20 too).
 * @param said what the text says already.
 */
export function requestText(attributes: Attributes, said: string): string {
  const first = (...names: string[]): string | undefined => {
    for (const name of names) {
      const value = scalar(attributes[name])
      if (value !== undefined) return value
    }
    return undefined
  }
  const route = first('http.route', 'url.path', 'http.target')
  const method = first('http.request.method', 'http.method')
  const status = first('http.response.status_code', 'http.status_code')
  const words = [
    route !== undefined && !said.includes(route) ? [method, route] : [],
    status !== undefined && !new RegExp(`\\b${status.replace(/\W/g, '')}\\b`).test(said) ? [status] : [],
  ]
    .flat()
    .filter((word) => word !== undefined)
  return words.length === 0 ? '' : `[${words.join(' ')}]`
}
