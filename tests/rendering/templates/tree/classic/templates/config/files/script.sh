#!/bin/sh
echo '#{ copied }#'
