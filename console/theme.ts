/** The theme of the kit: made of the tokens (styles/tokens.css), which say what each value is. */
import { createTheme, DEFAULT_THEME, type MantineColorsTuple, Paper } from '@mantine/core'

const CLOSE = { 'aria-label': 'Close' }

/** Words on what is filled with red are read: the shade of its buttons is as dark as the darkest. */
// `with` forgets that there are ten.
const RED = DEFAULT_THEME.colors.red.with(7, DEFAULT_THEME.colors.red[9]) as unknown as MantineColorsTuple

/** Shades about the accent, which is the eighth. */
const ACCENT: MantineColorsTuple = [
  '#eef0fe',
  '#e8ebfd',
  '#c9d1fb',
  '#abb8fb',
  '#93a5ff',
  '#6e82ec',
  '#5068e2',
  '#3b53d9',
  '#3147bd',
  '#283b9e',
]

/** Text, then borders, then grounds, from light to dark: the tokens of the dark scheme. */
const DARK: MantineColorsTuple = [
  '#e8eaee',
  '#c9ced6',
  '#abb3c0',
  '#6b7482',
  '#3a414c',
  '#2a2f38',
  '#1c2027',
  '#15181d',
  '#0e1014',
  '#0a0c0f',
]

export const theme = createTheme({
  colors: { red: RED, indigo: ACCENT, dark: DARK },
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  cursorType: 'pointer',
  // Who asked the system for less motion gets dialogs and menus without transitions (WCAG 2.1, 2.3.3).
  respectReducedMotion: true,
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--font-mono)',
  fontSizes: {
    xs: 'var(--size-1)',
    sm: 'var(--size-2)',
    md: 'var(--size-3)',
    lg: 'var(--size-4)',
    xl: 'var(--size-5)',
  },
  lineHeights: {
    xs: 'var(--line-1)',
    sm: 'var(--line-2)',
    md: 'var(--line-3)',
    lg: 'var(--line-4)',
    xl: 'var(--line-5)',
  },
  spacing: {
    xs: 'var(--space-2)',
    sm: 'var(--space-3)',
    md: 'var(--space-4)',
    lg: 'var(--space-5)',
    xl: '32px',
  },
  radius: {
    xs: '3px',
    sm: 'var(--radius-chip)',
    md: 'var(--radius-control)',
    lg: 'var(--radius-card)',
    xl: '16px',
  },
  defaultRadius: 'md',
  headings: {
    fontWeight: 'var(--weight-bold)',
    sizes: {
      h1: { fontSize: 'var(--size-5)', lineHeight: 'var(--line-5)' },
      h2: { fontSize: 'var(--size-4)', lineHeight: 'var(--line-4)' },
      h3: { fontSize: 'var(--size-3)', lineHeight: 'var(--line-3)' },
      h4: { fontSize: 'var(--size-3)', lineHeight: 'var(--line-3)' },
    },
  },
  components: {
    // The head of a dialog or a drawer is no banner of the page, and what closes it says so.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    Modal: { defaultProps: { closeButtonProps: CLOSE } },
    Drawer: { defaultProps: { closeButtonProps: CLOSE } },
    Notification: { defaultProps: { closeButtonProps: CLOSE } },
    // What shows a secret while it is typed is a stop for the keyboard, too.
    PasswordInput: {
      defaultProps: {
        visibilityToggleFocusable: true,
        visibilityToggleButtonProps: { 'aria-label': 'Show what is typed' },
      },
    },
    // What is framed is a card.
    Paper: Paper.extend({ vars: () => ({ root: { '--paper-radius': 'var(--radius-card)' } }) }),
  },
})
