/** One secret of Slack: where it is from, and a field to replace it. It is never shown. */
import { Button, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { SlackSecret } from '../../../../schemas/types.ts'
import { useChange } from '../../../lib/use-change.ts'
import { Mark } from '../../../parts/mark.tsx'
import { Refusal } from '../../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import { type SlackField, slack, slackKeys } from '../../../slack-client.ts'

interface Props {
  field: SlackField
  title: string
  hint: string
  /** What can be done with it once it is set. */
  children?: ReactNode
}

/** Of a card, px: what is below stays where it is while it is read. */
const HEIGHT = 152

export function SlackSecretCard({ field, title, hint, children }: Props) {
  const { data, error, refetch } = useQuery({
    queryKey: slackKeys.secret(field),
    queryFn: () => slack.get(field),
  })
  const [value, setValue] = useState('')
  const save = useChange((_: undefined) => slack.save(field, value.trim()), {
    said: () => `${title} is stored`,
    onDone: () => setValue(''),
    quiet: true,
  })
  const forget = useChange((_: undefined) => slack.forget(field), {
    failed: `Couldn’t delete the ${title.toLowerCase()}`,
    said: () => `${title} is forgotten`,
  })
  if (!data)
    return <NotRead what={`the ${title.toLowerCase()}`} error={error} onRetry={() => void refetch()} />
  return (
    <Paper withBorder p="md" radius="md" mih={HEIGHT} component="section" aria-label={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(undefined)
        }}
      >
        <Stack gap="sm">
          <Group justify="space-between">
            <Group gap="xs">
              <Title order={2} fz="md">
                {title}
              </Title>
              <Mark tone={data.configured ? 'good' : data.problem ? 'bad' : 'quiet'}>{originOf(data)}</Mark>
              {data.team && (
                <Text size="sm" c="dimmed">
                  {data.team}
                </Text>
              )}
            </Group>
            <Group gap="xs">
              {data.configured && children}
              {data.stored && (
                <Button
                  size="xs"
                  variant="light"
                  color="red"
                  loading={forget.isPending}
                  onClick={() => forget.mutate(undefined)}
                  aria-label={`Forget the stored ${title.toLowerCase()}`}
                >
                  Forget
                </Button>
              )}
            </Group>
          </Group>
          {data.env_overrides && (
            <Text size="sm" c="dimmed">
              The environment sets one, which is used instead of what is stored here.
            </Text>
          )}
          <Group align="flex-end">
            <PasswordInput
              label={data.stored ? `New ${title.toLowerCase()}` : title}
              description={`${hint} It is never shown again.`}
              value={value}
              onChange={(event) => setValue(event.currentTarget.value)}
              autoComplete="off"
              required
              withAsterisk={false}
              maw={520}
              style={{ flex: 1, minWidth: 240 }}
            />
            <Button type="submit" variant="default" loading={save.isPending}>
              Save
            </Button>
          </Group>
          <Refusal title="Couldn’t save the secret" error={save.error} />
        </Stack>
      </form>
    </Paper>
  )
}

function NotRead({ what, error, onRetry }: { what: string; error: Error | null; onRetry: () => void }) {
  return (
    <Paper withBorder p="md" radius="md" mih={HEIGHT}>
      {error ? <Failed what={what} error={error} onRetry={onRetry} /> : <LoadingRows rows={2} />}
    </Paper>
  )
}

function originOf({ source, configured, problem }: SlackSecret): string {
  if (source.startsWith('env:')) return `environment: ${source.slice(4)}`
  if (configured) return 'stored here'
  return problem ? 'cannot be read here: enter it again' : 'not set'
}
