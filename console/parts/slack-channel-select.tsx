/** Which channel of Slack; its id as text where the channels cannot be read. */
import { Anchor, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'react-router'
import { slack, slackKeys } from '../slack-client.ts'

interface Props {
  /** Id of a channel; empty: none. */
  value: string
  onChange: (id: string) => void
  error?: string | undefined
  /** What goes there; absent: findings. */
  label?: string
}

const FINDINGS = 'Post each finding to the Slack channel'

export function SlackChannelSelect({ value, onChange, error, label = FINDINGS }: Props) {
  const { data } = useQuery({ queryKey: slackKeys.channels, queryFn: slack.channels })
  const channels = data?.channels ?? []
  const isThere = useLocation().pathname === '/settings'
  const settings = (
    <Anchor component={Link} to="/settings?tab=slack" target="_blank" size="xs" underline="always">
      Settings, Slack
    </Anchor>
  )
  const detail = data?.reason !== 'no_token' && data?.detail
  if (channels.length === 0)
    return (
      <TextInput
        label={label}
        description={
          <>
            The id of a channel, such as C0123ABCD.{' '}
            {detail || <>A bot token {isThere ? 'above' : <>under {settings}</>} lists them.</>}
          </>
        }
        value={value}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
        error={error}
        maxLength={40}
      />
    )
  const rows = channels.map(({ id, name, is_private, is_member }) => ({
    value: id,
    label: `${is_private ? name : `#${name}`}${is_private && !is_member ? ' (the bot is not in it)' : ''}`,
  }))
  return (
    <Select
      label={label}
      description="Optional"
      data={value && !rows.some((row) => row.value === value) ? [...rows, { value, label: value }] : rows}
      value={value || null}
      onChange={(id) => onChange(id ?? '')}
      error={error}
      searchable
      clearable
      limit={100}
      clearButtonProps={{ 'aria-label': 'Choose no channel' }}
    />
  )
}
