/** Before the first question: what it can do, and questions that fit what is here. */
import { Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { akeys, ask } from '../../ask-client.ts'
import { api, keys } from '../../client.ts'
import type { Task } from '../../lib/ask.ts'

interface Props {
  onAsk(question: string, task: Task): void
}

export function Starters({ onAsk }: Props) {
  const { data: starters = [], isPending } = useQuery({ queryKey: akeys.starters, queryFn: ask.starters })
  // What stands above them is known as well, and does not push them down.
  const capabilities = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const isKnown = !isPending && !capabilities.isPending
  if (!isKnown) return null
  return (
    <Stack gap="md" className="ask-starters">
      <div>
        <Title order={2}>What do you want to know?</Title>
        <Text size="sm" c="dimmed" mt={4}>
          Ask reads events, firings, runs and findings as you may, shows what it looked at, and changes
          nothing: what it proposes, you apply.
        </Text>
      </div>
      {starters.length > 0 && (
        <ul className="ask-starter-list" aria-label="Questions to begin with">
          {starters.map(({ question, step }) => (
            <li key={question}>
              <UnstyledButton className="ask-starter" onClick={() => onAsk(question, step ?? 'ask')}>
                {question}
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
    </Stack>
  )
}
