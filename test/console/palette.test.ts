/** The palette takes any id, a verb with a name, or words. */
import { describe, expect, it } from 'vitest'
import { idIn, isFound, longestWord, verbIn } from '../../console/lib/palette.ts'

describe('the palette', () => {
  it('knows ids by their form', () => {
    const hex = '0123456789abcdef0123456789abcdef'
    expect(idIn(' evt_12 ')).toEqual({ kind: 'event', id: 'evt_12' })
    expect([idIn('#128'), idIn('inc_128')]).toEqual([
      { kind: 'incident', id: '128' },
      { kind: 'incident', id: '128' },
    ])
    expect(idIn('run_0a1b')).toEqual({ kind: 'run', id: 'run_0a1b' })
    expect(idIn(`fir_${hex}`)).toEqual({ kind: 'firing', id: hex })
    expect(idIn(hex)).toEqual({ kind: 'firing or run', id: hex })
    expect(idIn('uc_0a1b2c')).toEqual({ kind: 'project', id: 'uc_0a1b2c' })
    for (const words of ['', '128', 'evt_', 'evt_x', '#', 'events', 'checkout'])
      expect(idIn(words)).toBeNull()
  })

  it('knows what is to be done to what', () => {
    expect(verbIn('pause app-logs')).toEqual({ verb: 'pause', of: 'app-logs' })
    expect(verbIn('ack #128')).toEqual({ verb: 'acknowledge', of: '#128' })
    expect(verbIn('Resume')).toEqual({ verb: 'resume', of: '' })
    for (const words of ['', 'p', 'app-logs', 'pauses app-logs']) expect(verbIn(words)).toBeNull()
  })

  it('asks for incidents by the longest word, of an entity by its value', () => {
    expect(longestWord('fails checkout since')).toBe('checkout')
    expect(longestWord('service=checkout')).toBe('checkout')
    expect(longestWord('')).toBe('')
  })

  it('finds by all words, in any order', () => {
    expect(isFound('errors check', 'checkout-errors', 'Trigger')).toBe(true)
    expect(isFound('errors cart', 'checkout-errors', 'Trigger')).toBe(false)
  })
})
