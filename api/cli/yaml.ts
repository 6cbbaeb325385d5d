/** What is used of the parser of YAML, for a command that loads it when it reads YAML. */
export { LineCounter, parseDocument } from 'yaml'
