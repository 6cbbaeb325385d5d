/** A sentence with controls in it: lines of words and slots, which wrap where the screen is narrow. */
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** @param fault of the whole line, where no field of it is named */
export function Line({ children, fault }: { children: ReactNode; fault?: string | undefined }) {
  return (
    <div>
      <div className="sentence-line">{children}</div>
      {fault && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {fault}
        </Text>
      )}
    </div>
  )
}

export function Words({ children }: { children: ReactNode }) {
  return <span className="sentence-words">{children}</span>
}

/**
 * Where a control stands.
 * @param path of its field, by which its faults are found. @param width px; it grows no wider than the screen
 */
export function Slot({ path, width, children }: { path: string; width: number; children: ReactNode }) {
  return (
    <span className="sentence-slot" data-field={path} style={{ width }}>
      {children}
    </span>
  )
}
