/** An approved login: on its way back to the command, or a code to carry over while it is good. */
import { Alert, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { LoginApproved } from '../../../schemas/types.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { useNow } from '../../parts/use-now.ts'

export function Handover({ approved, machine }: { approved: LoginApproved; machine: string }) {
  const [since] = useState(Date.now)
  const now = useNow(1_000)
  const left = Math.max(0, approved.expires_in - Math.floor(Math.max(0, now - since) / 1000))
  if (approved.redirect !== null)
    return (
      <Alert color="teal" title="Approved" role="status" maw={620}>
        Your browser goes on to the command on this computer. If it says that it cannot connect, the command
        is no longer waiting, or runs on another machine: run <code>svc login --no-browser</code> there.
      </Alert>
    )
  if (left === 0)
    return (
      <Alert color="yellow" title="The code has expired" role="status" maw={620}>
        If {machine} did not take it, run <code>svc login --no-browser</code> again.
      </Alert>
    )
  return (
    <Alert color="teal" title="Approved: paste this code into the terminal" maw={620}>
      <Stack gap="xs">
        <CopyBlock value={approved.code} label="Copy the code" />
        <Text size="sm">
          Works once, for {machine} alone, for another {left} s.
        </Text>
      </Stack>
    </Alert>
  )
}
