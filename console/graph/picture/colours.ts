/** Colours of exported pictures: those of console/styles/graph.css, which a picture cannot read. */
import type { NodeKind, Tone } from '../types.ts'

export interface Colours {
  ground: string
  panel: string
  text: string
  dimmed: string
  border: string
  line: string
  kinds: Record<NodeKind, string>
  tones: Record<Tone, string>
}

export const COLOURS: Record<'light' | 'dark', Colours> = {
  light: {
    ground: '#f8f9fa',
    panel: '#ffffff',
    text: '#000000',
    dimmed: '#565e66',
    border: '#ced4da',
    line: '#868e96',
    kinds: {
      source: '#0b7285',
      trigger: '#a84300',
      agent: '#4338ca',
      mcp_server: '#5f6670',
      skill: '#5f6670',
      destination: '#2b7a2f',
    },
    tones: { neutral: '#000000', busy: '#4338ca', waiting: '#9c5a00', good: '#087f5b', bad: '#c92a2a' },
  },
  dark: {
    ground: '#1f1f1f',
    panel: '#242424',
    text: '#c9c9c9',
    dimmed: '#a9adb3',
    border: '#424242',
    line: '#868e96',
    kinds: {
      source: '#3bc9db',
      trigger: '#ffa94d',
      agent: '#a5b4fc',
      mcp_server: '#b3b9c1',
      skill: '#b3b9c1',
      destination: '#69db7c',
    },
    tones: { neutral: '#c9c9c9', busy: '#a5b4fc', waiting: '#ffc078', good: '#38d9a9', bad: '#ff8787' },
  },
}
