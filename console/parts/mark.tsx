/** A word with a coloured dot: the colour helps, the word says it, and its contrast always holds. */
import { Badge } from '@mantine/core'

export type Tone = 'good' | 'bad' | 'busy' | 'quiet'

const COLOURS: Record<Tone, string> = {
  good: 'var(--mantine-color-teal-6)',
  bad: 'var(--mantine-color-red-6)',
  busy: 'var(--mantine-color-indigo-5)',
  quiet: 'var(--mantine-color-gray-5)',
}

export function Mark({ tone, children, title }: { tone: Tone; children: string; title?: string }) {
  return (
    <Badge
      variant="default"
      tt="none"
      fw={500}
      style={{ flex: 'none', minWidth: 'max-content' }}
      leftSection={<span className="dot" style={{ background: COLOURS[tone] }} aria-hidden />}
      {...(title ? { title } : {})}
    >
      {children}
    </Badge>
  )
}
