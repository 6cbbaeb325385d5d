/** Which stored credential is used. One that is named but not stored is shown with what is wrong. */
import { Anchor, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { CREDENTIALS, credentials } from '../credentials-client.ts'

interface Props {
  label: string
  description?: string
  /** Name of a credential; empty: none. */
  value: string
  onChange: (name: string) => void
  error?: string
  required?: boolean
  id?: string
}

export function CredentialSelect({ label, description, value, onChange, error, required, id }: Props) {
  const { data, isError } = useQuery({ queryKey: CREDENTIALS, queryFn: credentials.list })
  const stored = data?.credentials ?? []
  const isGone = data !== undefined && value !== '' && !stored.some(({ name }) => name === value)
  const shared = { label, required: required ?? false, ...(id ? { id } : {}) }
  // Whoever may not list them may still name one.
  if (isError)
    return (
      <TextInput
        {...shared}
        description={description}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
        maxLength={64}
      />
    )
  const names = stored.map(({ name, account }) => ({
    value: name,
    label: account === null ? name : `${name} (${account})`,
  }))
  const hint: ReactNode = (
    <>
      {description}{' '}
      <Anchor component={Link} to="/settings?tab=github" target="_blank" size="xs" underline="always">
        {stored.length === 0 ? 'Add one in a new tab' : 'Manage them in a new tab'}
      </Anchor>
    </>
  )
  return (
    <Select
      {...shared}
      description={hint}
      placeholder={stored.length === 0 ? 'None is stored yet' : 'None'}
      data={isGone ? [...names, { value, label: `${value} (not stored)` }] : names}
      value={value || null}
      onChange={(name) => onChange(name ?? '')}
      error={error ?? (isGone ? `No credential is named ${value}` : undefined)}
      // A browser checks no input that cannot be typed into, so an empty one that is required would be sent.
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear selection' }}
    />
  )
}
