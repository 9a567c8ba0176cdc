/** The owner's console: what agents do, live, and the owner's word over them. */
import { render } from 'preact';
import { App } from './app.tsx';

const place = document.getElementById('console');
if (place !== null) render(<App />, place);
