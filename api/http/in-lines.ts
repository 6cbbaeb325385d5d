/**
 * An answer that takes long, as lines of JSON (NDJSON), where that was asked for: `{"progress":{"done","of"}}` while it
 * is worked out, and at last `{"status","answer"}`. What is answered or refused at once is answered as any other.
 */
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Tell } from '../../engine/index.ts'
import type { Doors } from './doors.ts'
import { asSvcError } from './problems.ts'

const LINES = 'application/x-ndjson'
/** Between two lines, in milliseconds: a bar that moves needs no more. */
const EVERY_MS = 100

/** Whether an answer is wanted in lines. @param accept the header */
export const wantsLines = (accept: string | undefined): boolean => accept?.includes(LINES) ?? false

/** @param run does it, and tells how far it is. @returns what is to be sent */
export function inLines(
  reply: FastifyReply,
  { log, clock }: Pick<Doors, 'log' | 'clock'>,
  run: (told: Tell) => Promise<unknown>,
): Promise<unknown> {
  const lines = new PassThrough()
  let told: number | null = null
  const write = (line: string): void => void lines.write(`${line}\n`)
  return new Promise((resolve, reject) => {
    const tell: Tell = (progress) => {
      const now = clock.now()
      if (told !== null && now - told < EVERY_MS) return
      if (told === null) {
        reply.type(`${LINES}; charset=utf-8`).header('cache-control', 'no-store')
        resolve(lines)
      }
      told = now
      write(JSON.stringify({ progress }))
    }
    const end = (status: number, answer: string): void => {
      lines.end(`{"status":${status},"answer":${answer}}\n`)
    }
    const fail = (error: Error): void => {
      if (told === null) {
        reject(error)
        return
      }
      const { status, message, extra } = asSvcError(error, log)
      end(
        status,
        JSON.stringify({ detail: message, ...(extra.problems ? { problems: extra.problems } : {}) }),
      )
    }
    run(tell)
      .then((answer) => {
        if (told === null) resolve(answer)
        else
          end(200, String(reply.serializeInput(answer as Record<string, unknown>, '200', 'application/json')))
      })
      .catch(fail)
  })
}
