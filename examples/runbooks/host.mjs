// The programs behind host.facts and note.* of lockstep.config.yaml. Notes lie in NOTES, or in the folder for temporary files.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const file = process.env.NOTES ?? join(tmpdir(), 'lockstep-notes.json')
const notes = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
const [what, ...rest] = process.argv.slice(2)
const option = (name) => rest.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3)
const id = option('id')

switch (what) {
  case 'facts':
    say({ node: process.version, free_mb: Math.floor(freemem() / 1e6), at: new Date().toISOString() })
    break
  case 'add':
    // The same id is the same note, however often it is added.
    if (!find()) write([...notes, { id, text: option('text') }])
    say({ id, file })
    break
  case 'has':
    say({ id, file })
    process.exitCode = find() ? 0 : 1
    break
  case 'remove':
    write(notes.filter((note) => note.id !== id))
    say({ id, removed: Boolean(find()) })
    break
  default:
    console.error(`host: unknown command ${what}`)
    process.exitCode = 2
}

function find() {
  return notes.find((note) => note.id === id)
}

function write(list) {
  writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`)
}

function say(value) {
  console.log(JSON.stringify(value))
}
