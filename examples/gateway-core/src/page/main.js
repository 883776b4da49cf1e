// @ts-check
import { LivePage } from "./live-page.js";

new LivePage().start();
