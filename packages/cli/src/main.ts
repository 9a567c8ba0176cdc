#!/usr/bin/env node
/** The process around the command line. It ends when the run ends, with connections that are still kept. */
import { runCli } from './cli.ts';

process.exit(await runCli(process.argv.slice(2)));
