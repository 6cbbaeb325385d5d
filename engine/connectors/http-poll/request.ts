/** What is asked of the API, and what a config must hold so that it can be. */
import type { HttpPollConfig } from '../../../schemas/types.ts'
import { type Reach, UpstreamError } from '../connector.ts'
import { type Answer, ask } from './ask.ts'
import { contextOf } from './mapping.ts'
import { type PageRequest, pagingFaults } from './paging.ts'

export const API = 'the API'
const FIELDS_NAMED = 10
const CREDENTIAL_HEADER = 'Authorization'
/** Headers of the connection, which are not the config's to say. */
const OURS =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i
/** What a header can carry (RFC 9110, 5.5). */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/

/** Rules a JSON Schema cannot say. @returns a sentence per fault, without values that may be secret. */
export function requestFaults(config: HttpPollConfig): string[] {
  const { url, method, body, headers = {}, credential_header: header = CREDENTIAL_HEADER } = config
  const names = Object.keys(headers)
  const twice = names.find((name) => name.toLowerCase() === header.toLowerCase())
  const ours = names.find((name) => OURS.test(name))
  return [
    ...urlFaults(url),
    ...pagingFaults(config),
    ...(body !== undefined && method !== 'POST' ? ['config.body is only sent with method POST'] : []),
    ...(twice === undefined
      ? []
      : [`config.headers.${twice} is the credential header; put its value in credential`]),
    ...(ours === undefined ? [] : [`config.headers.${ours} belongs to the connection and cannot be set`]),
    ...names
      .filter((name) => NOT_IN_HEADERS.test(headers[name]!))
      .map((name) => `config.headers.${name} contains characters that a header cannot carry`),
  ]
}

function urlFaults(text: string): string[] {
  if (!URL.canParse(text)) return ['config.url must be an absolute http or https address']
  const url = new URL(text)
  return url.username || url.password
    ? ['config.url must not contain a user name or a password; put them in credential']
    : []
}

/** Asks once. @param page where another than the first is asked for. @throws UpstreamError */
export function request(config: HttpPollConfig, reach: Reach, page?: PageRequest): Promise<Answer> {
  const { url, body } = page ?? config
  const { method = 'GET', headers, credential, credential_header: header = CREDENTIAL_HEADER } = config
  // One from the environment often ends with the line break of the file it came from.
  const secret = credential?.trim()
  if (secret !== undefined && NOT_IN_HEADERS.test(secret))
    throw new UpstreamError('the credential contains characters that a header cannot carry; enter it again')
  return ask(
    {
      url,
      method,
      headers: {
        accept: 'application/json',
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        ...headers,
        ...(secret ? { [header]: secret } : {}),
      },
      ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
      name: API,
      credentialField: 'Credential',
    },
    reach,
  )
}

/** @throws UpstreamError */
export function missing(path: string, value: unknown): never {
  const names = Object.keys(contextOf(value)).slice(0, FIELDS_NAMED)
  const there = Array.isArray(value) ? 'a list' : `an object with ${names.join(', ') || 'no fields'}`
  throw new UpstreamError(`the answer has nothing at payload key ${path}; it is ${there}`)
}
